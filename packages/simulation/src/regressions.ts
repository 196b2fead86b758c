import type { Plan } from './plan.ts'

/** A plan that has failed, as small as it could be made. */
export interface Regression {
  /** What was wrong. */
  readonly was: string
  /** The plan as the command prints it: JSON. */
  readonly plan: string
}

// One line each, as `npm run simulate` prints it.
// biome-ignore-start format: a line each
export const regressions: readonly Regression[] = [
  {
    was: 'a call that failed after it was given up: its request was charged twice in this process',
    plan: '{"seed":396,"duration":4900,"application":{"processes":1,"policies":[{"name":"policy 0","algorithm":"sliding-log","limit":20,"window":700}],"deadline":50,"onStoreError":"local","localShare":1,"refusalCache":false,"joins":true,"queuesOffline":false},"requests":[{"at":4774,"process":0,"client":"ada","cost":1,"actual":2,"workMs":1000,"retries":1},{"at":4818,"process":0,"client":"ada","cost":1,"actual":2,"workMs":1000,"retries":1}],"faults":[{"at":3620,"kind":"slow server","ms":7000,"by":60}]}',
  },
  {
    was: 'a late answer to a probe: slots were renewed that had been given back',
    plan: '{"seed":137,"duration":55000,"application":{"processes":1,"policies":[{"name":"policy 0","concurrent":5,"hold":5000}],"deadline":100,"onStoreError":"local","localShare":1,"refusalCache":false,"joins":false,"queuesOffline":false},"requests":[{"at":9487,"process":0,"client":"bob","cost":1,"actual":2,"workMs":0,"leavesMs":1755,"retries":5},{"at":10460,"process":0,"client":"bob","cost":2,"actual":4,"workMs":1667,"retries":5},{"at":10533,"process":0,"client":"bob","cost":0,"actual":0,"workMs":1667,"retries":5},{"at":11417,"process":0,"client":"bob","cost":1,"actual":0,"workMs":10000,"retries":5}],"faults":[{"at":6176,"kind":"slow server","ms":15000,"by":200}]}',
  },
  {
    was: 'a reservation of a dead process in a token bucket: what came back depended on when somebody looked, so waits were too short',
    plan: '{"seed":20305,"duration":12000,"application":{"processes":1,"policies":[{"name":"policy 0","algorithm":"fixed-window","limit":1,"window":3000,"settles":true}],"deadline":50,"onStoreError":"deny","localShare":1,"refusalCache":true,"joins":false,"queuesOffline":true,"streams":{"name":"streams","algorithm":"token-bucket","limit":3,"window":60000,"reserveMs":10000}},"requests":[{"stream":"settle","at":11027,"process":0,"client":"ada","cost":1,"actual":1,"workMs":0,"retries":1},{"stream":"settle","at":12000,"process":0,"client":"ada","cost":1,"actual":1,"workMs":5,"retries":1}],"faults":[{"at":2726,"kind":"restart","ms":9000}]}',
  },
  {
    was: 'the check of herds took calls for probes, which came before the breakers opened',
    plan: '{"seed":3469,"duration":600000,"application":{"processes":4,"policies":[{"name":"policy 0","algorithm":"sliding-window","limit":20,"window":3000,"alertAt":[0.8]}],"deadline":250,"onStoreError":"deny","localShare":1,"joins":false,"queuesOffline":false},"requests":[{"at":557072,"process":2,"client":"ada","cost":0,"actual":0,"workMs":20000,"leavesMs":57947,"retries":5},{"at":588528,"process":0,"client":"ada","cost":1,"actual":0,"workMs":200,"leavesMs":29410,"retries":1},{"at":600000,"process":1,"client":"ada","cost":1,"actual":0,"workMs":0,"retries":5},{"at":600000,"process":0,"client":"ada","cost":2,"actual":2,"workMs":120000,"retries":5},{"at":600000,"process":3,"client":"ada","cost":0,"actual":0,"workMs":120000,"retries":5}],"faults":[{"at":491959,"kind":"restart","ms":180000,"lost":0}]}',
  },
]
// biome-ignore-end format: a line each

export function readPlan({ plan }: Regression): Plan {
  return JSON.parse(plan) as Plan
}
