// The types of graphql-yoga import those of @whatwg-node/fetch, which bring the types of the DOM into every
// file. These stand in their place.
export {}
