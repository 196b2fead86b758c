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
  {
    was: 'the check of unused keys did not look at those that only a killed process had asked for',
    plan: '{"seed":20677,"duration":10000,"application":{"processes":1,"policies":[{"name":"policy 0","algorithm":"token-bucket","limit":1,"window":1000,"burst":10}],"deadline":100,"onStoreError":"local","localShare":1,"refusalCache":false,"joins":false,"queuesOffline":false},"requests":[{"at":6365,"process":0,"client":"bob","cost":1,"actual":0,"workMs":0},{"at":6400,"process":0,"client":"bob","cost":1,"actual":1},{"at":6428,"process":0,"client":"bob","cost":1,"actual":1,"workMs":0},{"at":6491,"process":0,"client":"bob","cost":1,"actual":1,"workMs":0,"leavesMs":740},{"at":6996,"process":0,"client":"bob","cost":2,"actual":2,"workMs":1000},{"at":6999,"process":0,"client":"bob","cost":1,"actual":1,"workMs":1000,"leavesMs":959},{"at":7048,"process":0,"client":"bob","cost":1,"actual":0,"leavesMs":224},{"at":7214,"process":0,"client":"bob","cost":1,"actual":2,"workMs":1000}],"faults":[{"at":9760,"kind":"kill","process":0}]}',
  },
  {
    was: 'the check of lock-outs did not know that a process alone keeps a client blocked',
    plan: '{"seed":32563,"duration":12000,"application":{"processes":1,"policies":[{"name":"policy 0","algorithm":"sliding-log","limit":5,"window":3000,"settles":true},{"name":"policy 1","algorithm":"token-bucket","limit":5,"window":1000,"settles":true,"burst":10},{"name":"policy 2","algorithm":"sliding-log","limit":8,"window":1000,"settles":true}],"deadline":250,"onStoreError":"local","localShare":1,"refusalCache":false,"joins":false,"queuesOffline":false},"requests":[{"at":2446,"process":0,"client":"ada","cost":2,"actual":2,"workMs":1000,"retries":1},{"at":2525,"process":0,"client":"ada","cost":1,"actual":0,"workMs":1000,"retries":1},{"at":6991,"process":0,"client":"ada","cost":1,"actual":0,"retries":1}],"faults":[{"at":281,"kind":"lose requests","process":0,"ms":9000},{"at":2488,"kind":"block key","process":0,"client":"ada","ms":7000}]}',
  },
  {
    was: 'a joined transaction that was never answered kept the keys of its calls for as long as the most patient of them',
    plan: '{"seed":31230,"duration":4200,"application":{"processes":2,"policies":[{"name":"policy 0","algorithm":"sliding-window","limit":2,"window":700,"settles":true,"alertAt":[0.5,1]}],"deadline":50,"onStoreError":"allow","localShare":1,"refusalCache":false,"joins":true,"queuesOffline":true},"requests":[{"at":1951,"process":1,"client":"cyd","cost":1,"actual":2,"leavesMs":685,"retries":5},{"at":2352,"process":0,"client":"cyd","cost":1,"actual":0,"workMs":0,"retries":1}],"faults":[{"at":1727,"kind":"lose replies","process":0,"ms":1000}]}',
  },
  {
    was: 'the check of what is given back did not know that a client sends a settlement twice',
    plan: '{"seed":23980,"duration":14707,"application":{"processes":1,"policies":[{"name":"policy 0","algorithm":"sliding-window","limit":1,"window":1337,"settles":true,"alertAt":[1]}],"deadline":100,"onStoreError":"local","localShare":1,"refusalCache":true,"joins":false,"queuesOffline":true},"requests":[{"at":4904,"process":0,"client":"ada","cost":1,"actual":0,"workMs":0,"leavesMs":683,"retries":5}],"faults":[{"at":582,"kind":"slow server","ms":7000,"by":60},{"at":4986,"kind":"lose replies","process":0,"ms":7000},{"at":7521,"kind":"restart","ms":1000,"lost":1000}]}',
  },
  {
    was: 'the check of lock-outs did not know that a store which loses its last writes may lose what a client that waits had gained',
    plan: '{"seed":511401,"duration":18718,"application":{"processes":1,"policies":[{"name":"policy 2","algorithm":"leaky-bucket","limit":3,"window":700,"settles":true,"alertAt":[0.8],"maxDelay":100}],"deadline":100,"onStoreError":"allow","localShare":1,"refusalCache":true,"joins":false,"queuesOffline":true},"requests":[{"at":6712,"process":0,"client":"cyd","cost":1,"actual":1,"workMs":0,"leavesMs":417,"retries":1},{"at":16085,"process":0,"client":"cyd","cost":1,"actual":0,"workMs":5},{"at":18718,"process":0,"client":"cyd","cost":1,"actual":0,"retries":1}],"faults":[{"at":8040,"kind":"server clock","by":-3600000},{"at":16636,"kind":"restart","ms":0,"lost":5000}]}',
  },
  {
    was: 'the check of unused keys did not know that a process whose clock is ahead grants for longer',
    plan: '{"seed":531597,"duration":600000,"application":{"processes":1,"policies":[{"name":"policy 0","algorithm":"fixed-window","limit":3,"window":60000}],"deadline":100,"onStoreError":"local","localShare":0.25,"joins":false,"queuesOffline":false},"requests":[{"at":276051,"process":0,"client":"ada","cost":1,"actual":0,"workMs":0,"retries":1}],"faults":[{"at":563979,"kind":"process clock","process":0,"by":3600000},{"at":599190,"process":0,"client":"ada","policy":0,"kind":"grant","units":1,"id":"invoice","ms":180000}]}',
  },
  {
    was: 'the check of waits did not know that what an aborted call was charged is given back before the next one asks',
    plan: '{"seed":539458,"duration":600000,"application":{"processes":3,"policies":[{"name":"policy 0","algorithm":"token-bucket","limit":5,"window":60000,"settles":true}],"deadline":250,"onStoreError":"allow","localShare":1,"joins":false,"queuesOffline":true,"queue":{"name":"queue","algorithm":"sliding-window","limit":20,"window":3000}},"requests":[{"wait":{"priority":0,"maxMs":3000,"abortsMs":1},"at":488947,"process":2,"client":"cyd","cost":1,"actual":1,"workMs":1000,"retries":5},{"wait":{"priority":0,"maxMs":0},"at":488947,"process":2,"client":"cyd","cost":1,"actual":1,"workMs":1000,"retries":5}],"faults":[{"at":397292,"kind":"slow server","ms":180000,"by":200}]}',
  },
  {
    was: 'the check of reservations did not know that one which the store is sent twice is held twice',
    plan: '{"seed":541582,"duration":38773,"application":{"processes":3,"policies":[{"name":"policy 0","concurrent":1,"hold":1000,"alertAt":[0.5,1]},{"name":"policy 1","algorithm":"sliding-window","limit":1,"window":700,"settles":true},{"name":"policy 2","algorithm":"leaky-bucket","limit":2,"window":1337,"settles":true,"maxDelay":0}],"deadline":100,"onStoreError":"local","localShare":1,"refusalCache":true,"joins":false,"queuesOffline":true,"streams":{"name":"streams","algorithm":"sliding-window","limit":20,"window":10000,"reserveMs":3000}},"requests":[{"stream":"settle","at":4788,"process":0,"client":"cyd","cost":1,"actual":2,"workMs":2674},{"stream":"settle twice","at":6125,"process":0,"client":"cyd","cost":2,"actual":2,"workMs":446,"leavesMs":1105},{"stream":"release","at":15489,"process":1,"client":"cyd","cost":1,"actual":0,"workMs":0}],"faults":[{"at":6106,"kind":"lose replies","process":0,"ms":7000},{"at":7939,"kind":"restart","ms":10,"lost":0}]}',
  },
  {
    was: 'the check of slots did not wait for those that the store could not take back',
    plan: '{"seed":544453,"duration":30000,"application":{"processes":1,"policies":[{"name":"policy 0","concurrent":20,"hold":5000}],"deadline":100,"onStoreError":"local","localShare":1,"joins":false,"queuesOffline":true},"requests":[{"at":30000,"process":0,"client":"bob","cost":1,"actual":0,"workMs":10000},{"at":30000,"process":0,"client":"bob","cost":1,"actual":1,"workMs":10000},{"at":30000,"process":0,"client":"bob","cost":0,"actual":0,"workMs":10000,"leavesMs":3613},{"at":30000,"process":0,"client":"cyd","cost":1,"actual":1,"workMs":10000},{"at":30000,"process":0,"client":"cyd","cost":1,"actual":0,"workMs":10000},{"at":30000,"process":0,"client":"cyd","cost":1,"actual":1,"workMs":10000,"leavesMs":231},{"at":30000,"process":0,"client":"cyd","cost":2,"actual":0,"workMs":10000},{"at":30000,"process":0,"client":"cyd","cost":1,"actual":1,"workMs":10000},{"at":30000,"process":0,"client":"cyd","cost":23,"actual":0,"workMs":10000}],"faults":[]}',
  },
  {
    was: 'a refusal was remembered for part of a millisecond too long: a client that had waited was refused',
    plan: '{"seed":584031,"duration":18000,"application":{"processes":3,"policies":[{"name":"policy 0","algorithm":"leaky-bucket","limit":1,"window":3000,"maxDelay":0}],"deadline":100,"onStoreError":"local","localShare":1,"refusalCache":true,"joins":false,"queuesOffline":true},"requests":[{"at":8344,"process":2,"client":"cyd","cost":1,"actual":0,"workMs":6000,"retries":5},{"at":8433,"process":1,"client":"cyd","cost":1,"actual":1,"workMs":1000,"retries":1},{"at":8733,"process":1,"client":"cyd","cost":2,"actual":2,"workMs":1000,"retries":1},{"at":8844,"process":1,"client":"cyd","cost":1,"actual":0,"workMs":0,"retries":5},{"at":9033,"process":1,"client":"cyd","cost":1,"actual":1,"retries":1},{"at":9139,"process":1,"client":"bob","cost":2,"actual":2},{"at":9439,"process":1,"client":"bob","cost":1,"actual":0,"workMs":1000},{"at":10163,"process":1,"client":"bob","cost":0,"actual":0,"workMs":1000},{"at":10533,"process":1,"client":"cyd","cost":2,"actual":0,"workMs":1000,"retries":1}],"faults":[{"at":199,"kind":"leave","process":2,"limit":10}]}',
  },
  {
    was: 'a request that came right after a stall waited for up to half of the deadline longer',
    plan: '{"seed":193640,"duration":50000,"application":{"processes":1,"policies":[{"name":"policy 2","concurrent":2,"hold":1000}],"deadline":50,"onStoreError":"local","localShare":0.25,"refusalCache":true,"joins":false,"queuesOffline":true},"requests":[{"at":28237,"process":0,"client":"cyd","cost":1,"actual":1,"workMs":20000},{"at":32024,"process":0,"client":"bob","cost":2,"actual":2,"workMs":20000}],"faults":[{"at":29951,"kind":"restart","ms":10000,"lost":1000},{"at":30258,"kind":"stall","process":0,"ms":7000}]}',
  },
  {
    was: 'the check of lock-outs did not know that a process alone counts debt',
    plan: '{"seed":141734,"duration":11200,"application":{"processes":1,"policies":[{"name":"policy 0","algorithm":"sliding-window","limit":2,"window":700,"settles":true,"alertAt":[1]}],"deadline":100,"onStoreError":"local","localShare":0.5,"refusalCache":false,"joins":false,"queuesOffline":false},"requests":[{"at":9122,"process":0,"client":"bob","cost":1,"actual":1,"workMs":5},{"at":9433,"process":0,"client":"bob","cost":1,"actual":2,"workMs":1400,"retries":5},{"at":9450,"process":0,"client":"ada","cost":1,"actual":2,"workMs":1000,"leavesMs":371},{"at":9735,"process":0,"client":"bob","cost":0,"actual":0,"workMs":0},{"at":11200,"process":0,"client":"bob","cost":1,"actual":0,"workMs":233,"retries":5}],"faults":[{"at":7993,"kind":"out of memory","ms":2100}]}',
  },
  {
    was: 'the check of unused keys asked a limiter that had not noticed that its store was back',
    plan: '{"seed":167536,"duration":80000,"application":{"processes":1,"policies":[{"name":"policy 0","algorithm":"sliding-log","limit":2,"window":10000,"settles":true,"alertAt":[0.5,1]}],"deadline":50,"onStoreError":"allow","localShare":1,"refusalCache":true,"joins":false,"queuesOffline":false,"queue":{"name":"queue","algorithm":"token-bucket","limit":1,"window":10000,"burst":11}},"requests":[{"wait":{"priority":0,"maxMs":0},"at":32365,"process":0,"client":"bob","cost":1,"actual":0,"workMs":20000,"retries":1},{"wait":{"priority":0,"maxMs":0,"abortsMs":13509},"at":32365,"process":0,"client":"bob","cost":2,"actual":2,"workMs":20000,"retries":1},{"wait":{"priority":0,"maxMs":10000},"at":32365,"process":0,"client":"bob","cost":2,"actual":2,"workMs":20000,"retries":1},{"wait":{"priority":0,"maxMs":10000},"at":32365,"process":0,"client":"bob","cost":1,"actual":0,"workMs":0,"retries":1},{"wait":{"priority":0,"maxMs":5000},"at":32365,"process":0,"client":"bob","cost":1,"actual":1,"workMs":3333,"retries":1},{"wait":{"priority":-1,"maxMs":50000},"at":32365,"process":0,"client":"bob","cost":1,"actual":1,"workMs":0,"retries":1},{"wait":{"priority":0,"maxMs":0},"at":57064,"process":0,"client":"bob","cost":1,"actual":1,"workMs":200,"retries":5},{"wait":{"priority":0,"maxMs":10000},"at":66690,"process":0,"client":"bob","cost":1,"actual":1,"workMs":0,"retries":1},{"wait":{"priority":0,"maxMs":0},"at":72690,"process":0,"client":"bob","cost":1,"actual":0,"workMs":200,"retries":1},{"wait":{"priority":0},"at":73210,"process":0,"client":"ada","cost":1,"actual":0,"retries":5},{"wait":{"priority":1},"at":74690,"process":0,"client":"bob","cost":1,"actual":1,"workMs":200,"retries":1}],"faults":[{"at":51928,"kind":"lose replies","process":0,"ms":30000}]}',
  },
  {
    was: 'the check of unused keys did not wait for a settlement that is repeated',
    plan: '{"seed":82495,"duration":600000,"application":{"processes":2,"policies":[{"name":"policy 0","algorithm":"token-bucket","limit":8,"window":60000,"settles":true,"reserveMs":10000},{"name":"policy 1","algorithm":"leaky-bucket","limit":5,"window":700,"settles":true,"maxDelay":0}],"deadline":100,"onStoreError":"deny","localShare":1,"joins":false,"queuesOffline":false},"requests":[{"at":268541,"process":1,"client":"cyd","cost":1,"actual":1,"workMs":120000}],"faults":[{"at":372781,"kind":"read only","ms":180000}]}',
  },
  {
    was: 'the check of what is given back did not know of a reservation that ended while its process stood still',
    plan: '{"seed":1002405,"duration":90000,"application":{"processes":1,"policies":[{"name":"policy 2","algorithm":"sliding-window","limit":2,"window":1000,"settles":true,"reserveMs":3000,"level":"organisation"}],"deadline":100,"onStoreError":"local","localShare":1,"joins":false,"queuesOffline":true},"requests":[{"at":23463,"process":0,"client":"ada","cost":1,"actual":0,"leavesMs":5730,"retries":5}],"faults":[{"at":23955,"kind":"stall","process":0,"ms":10000}]}',
  },
  {
    was: 'the check of what is given back did not know of a reservation that ended while its settlement was lost',
    plan: '{"seed":1007603,"duration":600000,"application":{"processes":1,"policies":[{"name":"policy 1","algorithm":"sliding-window","limit":8,"window":700,"settles":true,"reserveMs":10000}],"deadline":100,"onStoreError":"deny","localShare":0.25,"refusalCache":true,"joins":false,"queuesOffline":true},"requests":[{"at":400887,"process":0,"client":"bob","cost":1,"actual":0,"leavesMs":50413,"retries":5}],"faults":[{"at":416446,"kind":"lose requests","process":0,"ms":180000}]}',
  },
  {
    was: 'the check of bounds did not know that a burst may follow the limit of another version',
    plan: '{"seed":26909,"duration":12000,"application":{"processes":1,"policies":[{"name":"policy 0","algorithm":"token-bucket","limit":1,"window":3000,"alertAt":[0.5,1],"burst":6}],"deadline":100,"onStoreError":"local","localShare":1,"refusalCache":true,"joins":false,"queuesOffline":false},"requests":[{"at":10401,"process":0,"client":"bob","cost":1,"actual":0,"workMs":0},{"at":12000,"process":0,"client":"bob","cost":1,"actual":1,"workMs":0},{"at":12000,"process":0,"client":"bob","cost":2,"actual":2,"workMs":0},{"at":12000,"process":0,"client":"bob","cost":1,"actual":1,"workMs":0},{"at":12000,"process":0,"client":"bob","cost":1,"actual":1,"workMs":0},{"at":12000,"process":0,"client":"bob","cost":2,"actual":2,"workMs":0,"leavesMs":357}],"faults":[{"at":261,"kind":"leave","process":0,"limit":6},{"at":10520,"process":0,"client":"bob","policy":0,"kind":"override","units":10}]}',
  },
  {
    was: 'two requests with different limits in one call of a store with transactions: the refusal of one changed the wait of the other',
    plan: '{"seed":9382,"duration":280000,"application":{"processes":1,"policies":[{"name":"policy 0","algorithm":"leaky-bucket","limit":8,"window":10000,"alertAt":[0.8],"maxDelay":100}],"deadline":250,"onStoreError":"local","localShare":0.5,"refusalCache":true,"joins":false,"queuesOffline":false},"requests":[{"at":28828,"process":0,"client":"cyd","cost":1,"actual":1,"workMs":20000,"retries":5,"limit":1},{"at":28828,"process":0,"client":"cyd","cost":1,"actual":0,"workMs":20000,"retries":5,"limit":10},{"at":28828,"process":0,"client":"cyd","cost":0,"actual":0,"workMs":3333,"retries":5,"limit":1},{"at":29031,"process":0,"client":"cyd","cost":2,"actual":2,"workMs":0,"retries":5},{"at":29031,"process":0,"client":"cyd","cost":1,"actual":1,"workMs":20000,"retries":5,"limit":10}],"faults":[]}',
  },
  {
    was: 'the check of networks took a request that is exempt for one that asks the store',
    plan: '{"seed":21273,"epoch":1793595575884,"duration":48000,"application":{"processes":2,"policies":[{"name":"policy 0","algorithm":"fixed-window","limit":1,"window":86400000,"calendar":"after a day of 25 hours"},{"name":"policy 0","algorithm":"fixed-window","limit":1,"window":86400000,"calendar":"after a day of 25 hours","isOfRoute":true}],"deadline":250,"onStoreError":"allow","localShare":0.5,"refusalCache":false,"joins":false,"queuesOffline":true},"requests":[{"at":7286,"process":1,"client":"bob","cost":0,"actual":0,"workMs":6000,"retries":1,"route":"free","limit":3},{"at":8573,"process":1,"client":"bob","cost":2,"actual":0,"workMs":0,"leavesMs":1235,"retries":1,"limit":3}],"faults":[{"at":2129,"kind":"block network","process":0,"network":"198.51.100.0/24","ms":9000}]}',
  },
  {
    was: 'a client that one list exempts by its address, and the other names by its key: it was exempt',
    plan: '{"seed":244,"duration":125000,"application":{"processes":4,"policies":[{"name":"policy 0","concurrent":20,"hold":5000}],"deadline":250,"onStoreError":"allow","localShare":1,"joins":false,"queuesOffline":false,"lists":{"allow":["198.51.100.1","cyd"],"deny":["ada"]}},"requests":[{"at":34456,"process":3,"client":"ada","cost":0,"actual":0,"retries":1}],"faults":[]}',
  },
  {
    was: 'a stream whose reader asks again after a pause longer than hold: it waited without its slot',
    plan: '{"seed":11105,"epoch":1791118783638,"duration":24000,"application":{"processes":1,"policies":[{"name":"policy 1","concurrent":1,"hold":1000,"alertAt":[0.8]}],"deadline":100,"onStoreError":"local","localShare":0.5,"joins":false,"queuesOffline":false,"isFetch":true},"requests":[{"at":19999,"process":0,"client":"bob","cost":0,"actual":0,"body":{"source":"stream","readMs":0,"pauseMs":2757,"reads":3,"cancels":true}}],"faults":[]}',
  },
  {
    was: 'the check of unused quotas did not wait until a stream that nobody reads was settled',
    plan: '{"seed":14513,"duration":200000,"application":{"processes":1,"policies":[{"name":"policy 0","algorithm":"sliding-window","limit":1,"window":10000,"settles":true},{"name":"policy 0","algorithm":"sliding-window","limit":4,"window":10000,"settles":true,"isOfRoute":true}],"deadline":100,"onStoreError":"local","localShare":1,"joins":false,"queuesOffline":false,"isFetch":true},"requests":[{"at":184434,"process":0,"client":"cyd","cost":2,"actual":4,"route":"own","body":{"source":"stream","readMs":0,"pauseMs":390,"reads":0}}],"faults":[{"at":138051,"kind":"out of memory","ms":7000}]}',
  },
  {
    was: 'over Fetch, a client that was gone before its turn had not left for the limiter: its response was renewed for ever',
    plan: '{"seed":5012477,"duration":60000,"application":{"processes":1,"policies":[{"name":"policy 0","algorithm":"leaky-bucket","limit":1,"window":10000,"settles":true,"maxDelay":10000},{"name":"policy 1","algorithm":"sliding-window","limit":1,"window":700,"settles":true,"reserveMs":3000}],"deadline":100,"onStoreError":"allow","localShare":1,"refusalCache":true,"joins":false,"queuesOffline":true,"isFetch":true},"requests":[{"at":58556,"process":0,"client":"ada","cost":1,"actual":2,"workMs":20000,"body":{"source":"stream","cancels":true}},{"at":60000,"process":0,"client":"ada","cost":1,"actual":0,"workMs":3333,"body":{"source":"throws"}}],"faults":[{"at":18212,"kind":"reset connection","process":0}]}',
  },
  {
    was: 'the check of unused quotas ended own limits in more calls at once than may wait',
    plan: '{"seed":7004892,"duration":600000,"application":{"processes":1,"policies":[{"name":"policy 0","algorithm":"sliding-window","limit":20,"window":1000,"alertAt":[0.8],"windows":[500,2000,7000]},{"name":"policy 1","algorithm":"fixed-window","limit":20,"window":60000,"alertAt":[0.5,1],"level":"organisation","windows":[500,7000]},{"name":"policy 2","algorithm":"sliding-window","limit":3,"window":1337,"alertAt":[0.5,1],"level":"organisation","windows":[500,2000,7000]}],"deadline":100,"onStoreError":"deny","localShare":0.5,"refusalCache":true,"joins":false,"queuesOffline":true},"requests":[{"at":408056,"process":0,"client":"bob","cost":1,"actual":0,"workMs":5,"retries":5,"window":500}],"faults":[{"at":600000,"process":0,"client":"bob","policy":2,"kind":"override","units":1}]}',
  },
  {
    was: 'the check of all or nothing did not know that a late call may charge the policy of a route, which is decided alone',
    plan: '{"seed":7041709,"epoch":1806188386655,"duration":15000,"application":{"processes":1,"policies":[{"name":"policy 1","algorithm":"fixed-window","limit":8,"window":86400000,"calendar":"a week that begins on a Sunday","level":"organisation"},{"name":"policy 0","algorithm":"fixed-window","limit":2,"window":700,"isOfRoute":true}],"cluster":{"masters":3,"sharded":false},"deadline":100,"onStoreError":"deny","localShare":0.3333333333333333,"refusalCache":true,"joins":false,"queuesOffline":false},"requests":[{"at":10553,"process":0,"client":"bob","cost":2,"actual":2,"workMs":1000,"route":"own"}],"faults":[{"at":7371,"kind":"freeze","ms":7000,"master":2}]}',
  },
  {
    was: 'the check of what a process decides alone took a response that was left for one that costs all of its work',
    plan: '{"seed":7058693,"duration":30000,"application":{"processes":2,"policies":[{"name":"policy 0","algorithm":"sliding-log","limit":8,"window":700,"settles":true,"alertAt":[0.8]},{"name":"policy 1","concurrent":2,"hold":1000},{"name":"policy 2","algorithm":"leaky-bucket","limit":3,"window":3000,"settles":true,"maxDelay":0}],"deadline":50,"onStoreError":"local","localShare":0.5,"joins":false,"queuesOffline":true,"isFetch":true},"requests":[{"at":20912,"process":0,"client":"bob","cost":2,"actual":2,"workMs":1000,"retries":1},{"at":21143,"process":0,"client":"bob","cost":1,"actual":1,"workMs":6000,"retries":1,"body":{"source":"stream","readMs":0,"pauseMs":50,"reads":0,"cancels":true}},{"at":21374,"process":0,"client":"bob","cost":1,"actual":0,"workMs":6000,"retries":1,"body":{"source":"stream","readMs":0,"cancels":true}},{"at":21605,"process":0,"client":"bob","cost":0,"actual":0,"workMs":1000,"leavesMs":1551,"retries":1,"body":{"source":"stream","readMs":0,"cancels":true}},{"at":21836,"process":0,"client":"bob","cost":0,"actual":0,"workMs":6000,"retries":1,"body":{"source":"stream that fails"}},{"at":22298,"process":0,"client":"bob","cost":1,"actual":1,"workMs":6000,"retries":1,"body":{"source":"stream","reads":1}}],"faults":[{"at":19104,"kind":"freeze","ms":3000}]}',
  },
  {
    was: 'the check of unused quotas did not know that a calendar whose anchor differs is kept after its window',
    plan: '{"seed":9003727,"epoch":1803752918138,"duration":260000,"application":{"processes":2,"policies":[{"name":"policy 0","algorithm":"token-bucket","limit":1,"window":1000,"alertAt":[0.5,1]},{"name":"policy 1","algorithm":"fixed-window","limit":1,"window":86400000,"calendar":"a month from the 31st","level":"organisation","anchors":true}],"cluster":{"masters":3,"sharded":false},"deadline":100,"onStoreError":"allow","localShare":0.5,"refusalCache":true,"joins":false,"queuesOffline":false,"isFetch":true},"requests":[],"faults":[]}',
  },
  {
    was: 'the check of slots did not wait for requests that were delayed before they began',
    plan: '{"seed":9019145,"duration":480000,"application":{"processes":1,"policies":[{"name":"policy 0","concurrent":5,"hold":30000},{"name":"policy 1","algorithm":"leaky-bucket","limit":2,"window":60000,"maxDelay":120000}],"deadline":250,"onStoreError":"local","localShare":1,"joins":false,"queuesOffline":true,"isFetch":true},"requests":[{"at":352851,"process":0,"client":"bob","cost":3,"actual":2,"workMs":200,"retries":1,"body":{"source":"stream","readMs":0}},{"at":363640,"process":0,"client":"bob","cost":1,"actual":0,"workMs":200,"retries":1,"body":{"source":"stream","readMs":0,"pauseMs":50,"reads":0}},{"at":366705,"process":0,"client":"bob","cost":2,"actual":2,"workMs":0,"retries":1},{"at":442476,"process":0,"client":"bob","cost":1,"actual":1,"workMs":5,"retries":1,"body":{"source":"stream","reads":0}}],"faults":[]}',
  },
]
// biome-ignore-end format: a line each

export function readPlan({ plan }: Regression): Plan {
  return JSON.parse(plan) as Plan
}
