export { SluiceError } from './errors/sluice-error.ts'
export { addressKey } from './key/address.ts'
export { AddressRanges } from './key/address-ranges.ts'
export { type Cidr, cidrText, isAddressLike, parseCidr } from './key/cidr.ts'
export { isIPv4 } from './key/ip.ts'
export type { PolicyClientCounter, PolicyClients } from './limiter/live/policy-clients.ts'
export { loadPolicyChanges, policyControl } from './limiter/live/policy-control.ts'
export type { PolicyPreview } from './limiter/live/policy-preview.ts'
export type {
  ChangeOptions,
  PolicyControl,
  PolicyDifference,
  PolicyState,
  SetOptions,
} from './limiter/live/policy-state.ts'
export { parseDuration } from './options/duration.ts'
export { keptDocuments } from './stores/documents/kept-documents.ts'
export {
  type PolicyChange,
  type PolicySettings,
  SETTING_NAMES,
  type SettingsLayer,
} from './stores/documents/policy-document.ts'
export { sharedDocumentsOf } from './stores/documents/shared-documents.ts'
export {
  type FoundKeyspace,
  foreignKeyPrefix,
  type KeyspaceFilter,
  knownKeyspaces,
} from './stores/inspection/known-keyspaces.ts'
export { setLimit } from './stores/inspection/set-limit.ts'
export { type BlockedNetwork, networkBlocksOf } from './stores/networks/network-blocks.ts'
export { checkNetwork } from './stores/networks/network-text.ts'
export { redisStore } from './stores/redis/redis-store.ts'
