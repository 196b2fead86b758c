// VitePress looks for its configuration and its theme in this folder; both are in src.
export { default } from '../src/config.ts'
