var Ct=Object.defineProperty;var Ki=Object.getOwnPropertyDescriptor;var $i=Object.getOwnPropertyNames;var qi=Object.prototype.hasOwnProperty;var Wi=(r,e)=>{for(var t in e)Ct(r,t,{get:e[t],enumerable:!0})},Fi=(r,e,t,n)=>{if(e&&typeof e=="object"||typeof e=="function")for(let i of $i(e))!qi.call(r,i)&&i!==t&&Ct(r,i,{get:()=>e[i],enumerable:!(n=Ki(e,i))||n.enumerable});return r};var Gi=r=>Fi(Ct({},"__esModule",{value:!0}),r);var xa={};Wi(xa,{createLimiter:()=>Di,redisStore:()=>gt});module.exports=Gi(xa);var Tn=require("node:util");var On=require("node:util");var Hi={SLUICE_OPTION_TYPE:{meaning:"An option or an argument has the wrong type.",cause:"Most often a number from the environment that is still text, or a required option that is missing. Sluice converts nothing, because a wrong guess would set a limit that you did not intend.",action:"Give the type that the message names. Convert text where it comes from: `Number(process.env.LIMIT)`."},SLUICE_OPTION_RANGE:{meaning:"An option or an argument has the right type, but its value is outside of the range.",cause:"A negative number, a fraction, `NaN`, `Infinity`, or a number above what Sluice can count exactly.",action:"Give a value within the range that the message names."},SLUICE_OPTION_VALUE:{meaning:"An option or an argument is not one of the values that it can have.",cause:"A typing error, or a name from another library.",action:"Choose one of the values that the message lists."},SLUICE_OPTION_UNKNOWN:{meaning:"There is no option of this name, or not in this place.",cause:"A typing error, an option of another library, or an option of the whole limiter that a single policy or route cannot have.",action:"Remove it or correct its name. For options of other libraries the message names the right one; see also [migrating](migrating.md)."},SLUICE_OPTION_CONFLICT:{meaning:"Options that are each right contradict each other.",cause:"Examples: `policies` together with `limit`, two policies of the same name, a cost that is above the limit and so could never be paid.",action:"Change one of the options as the message says."},SLUICE_STORE_UNKNOWN:{meaning:"`store` is neither a store nor a client of Redis that Sluice knows, or the pool of `postgresStore` is not one of pg.",cause:"A URL instead of a client, a client of another library, or a pipeline or transaction of a client.",action:"Give `memoryStore()`, `redisStore(client)`, `postgresStore(pool)` of `@sluice/postgres`, or a client of Redis itself: `new Redis(url)` of ioredis, `createClient({ url })` of node-redis, a `GlideClient`. For anything else, write [a store of your own](stores.md)."},SLUICE_KEY:{meaning:"A method of the limiter was called with a key that names no single client.",cause:"The key is missing, empty, not text, or a range of addresses.",action:"Pass the text that identifies one client. To refuse a range of addresses, use the option `deny`."},SLUICE_HEADERS:{meaning:"`headers` names a profile that does not exist, or two that cannot be sent together.",cause:"Drafts 7 and 8 to 11 give the field `RateLimit` different forms, so a response can't have both.",action:"Choose one profile, for example `'draft-11'`, or `['draft-11', 'draft-6']` for new and old clients together; `false` sends no fields."},SLUICE_TRUST_PROXY:{meaning:"`trustProxy` does not say which proxies to trust.",cause:"`true` is refused on purpose: if every address is trusted, each client can write its own address into `X-Forwarded-For` and get a new limit for each request.",action:"Name your proxies: `trustProxy: ['loopback', '10.0.0.0/8']`. Or give the number of proxies, if the server can't be reached without passing them."},SLUICE_CIDR:{meaning:"An entry of `allow` or `deny` looks like a range of addresses, but is none.",cause:"The address is not valid, or the prefix is too long for its family.",action:"Correct the address and the prefix: 1 to 32 bits for IPv4, 1 to 128 for IPv6."},SLUICE_SECRET:{meaning:"`partitionSecret` or `keySecret` is too short to keep a secret.",cause:"It is shorter than 16 characters, or not text. The message shows its length only.",action:"Take it from a secret store or the environment; the same one in every process."},SLUICE_ROUTE:{meaning:"A key of `routes` is not a route.",cause:"It does not start with a path or with a method in capitals, or the path is not one that the framework could match.",action:"Write it as the framework's router would: `'POST /login'`, `'/search/:id'`, `'/files/*path'`."},SLUICE_REQUEST:{meaning:"A middleware was called with a request, a response or a context that is not one of its framework.",cause:"In a test, an object that lacks what the middleware needs: for example a response without `setHeader`, or a context of Koa without `req` and `res`. In an application, the package of another framework. The message doesn't show the request.",action:"Use the package of your framework. In a test, send a real request with supertest, Fastify's `app.inject` or Hono's `app.request`; or make the request and the response with node-mocks-http. For `@sluice/express` and `@sluice/node`, any object is a request: `{}` is a client without an address, and shares its quota with all others."}},Bi={SLUICE_REDIS_NOT_CONNECTED:{meaning:"The node-redis client is not connected.",cause:"node-redis does not connect by itself, or the client was closed.",action:"Call `client.on('error', \u2026)`, then `await client.connect()`, before the first request."},SLUICE_REDIS_AUTH:{meaning:"Redis refuses the credentials.",cause:"The password is missing or wrong.",action:"Give the client the server's username and password."},SLUICE_REDIS_FORBIDDEN:{meaning:"The Redis user is not permitted to run the script.",cause:"Its ACL lacks a command or the keys that the script uses.",action:"Permit all of this, in addition to the commands of the client itself, with your own prefix in place of sluice: `ACL SETUSER <name> ~sluice:* +eval +evalsha +time +get +mget +exists +set +getrange +setrange +pexpire +del`."},SLUICE_REDIS_CLUSTER:{meaning:"The client knows a single node of a Redis Cluster.",cause:"It was made for one server, and this node does not have all keys.",action:"Use `new Cluster([{ host, port }])` of ioredis, `createCluster({ rootNodes: [{ url }] })` of node-redis, or `GlideClusterClient.createClient({ addresses: [{ host, port }] })` of valkey-glide."},SLUICE_REDIS_NO_SCRIPTS:{meaning:"The server runs no Lua scripts.",cause:"`EVAL` was disabled or renamed, or the Lua module of Valkey is missing.",action:"Enable `EVAL` and `EVALSHA` on the server; for Valkey, install its Lua module."},SLUICE_REDIS_READONLY:{meaning:"The server is a read-only replica.",cause:"Most often it was the master until a failover, and the client is still connected to it.",action:"Connect to the master through Sentinel or an address that follows it, and reconnect after a failover: ioredis by `reconnectOnError: (e) => (e.message.includes('READONLY') ? 1 : false)`, the others by `redisStore(client, { onReadOnly })`."},SLUICE_POSTGRES_TABLE:{meaning:"PostgreSQL does not have the table of the store.",cause:"It was not created yet, or it is in another schema or database.",action:"Call `await store.migrate()` when you deploy, or run the statements of [the table](../packages/postgres/README.md#the-table). The option `schema` says where it is."},SLUICE_POSTGRES_FORBIDDEN:{meaning:"The PostgreSQL user is not permitted to use the table.",cause:"It lacks a privilege on the schema or on the table.",action:"Permit all of this, with your own names: `GRANT USAGE ON SCHEMA public TO <name>; GRANT SELECT, INSERT, UPDATE, DELETE ON public.sluice_states TO <name>`."},SLUICE_POSTGRES_AUTH:{meaning:"PostgreSQL refuses the credentials.",cause:"The user, the password or the database is wrong, or `pg_hba.conf` does not let it in.",action:"Give the pool the user, password and database of the server."},SLUICE_POSTGRES_READONLY:{meaning:"The server does not accept writes.",cause:"Most often it is a replica, to which the pool is still connected after a failover. Or `default_transaction_read_only` is set.",action:"Connect to the primary by an address that follows it, and give the pool `maxLifetimeSeconds`."}},Yi={SLUICE_STORE_UNAVAILABLE:{meaning:"`settle`, `block` or `reset` was not confirmed by the store. It applies only in this process.",cause:"The store is down, refuses the call, or did not answer within `deadline`. `cause` has the reason.",action:"Repeat the call when the store is back. It is safe to repeat `block` or `reset`. If `settle` got no answer in time, the store may still have counted it, so a repetition may count twice. `consume` and `peek` never reject with this: there `onStoreError` decides. See [failures](failures.md)."},SLUICE_STORE_CONTENTION:{meaning:"A store that compares and swaps gave up, and wrote nothing.",cause:"In each of its attempts another process changed the same keys first.",action:"If your backend can lock, use `transactionalStore` instead: see [stores](stores.md)."}},Xi={SLUICE_STORE_DOWN:{meaning:"The store has failed, so requests are decided without it, as `onStoreError` says.",cause:"The message quotes the last failure. If that ends with a code of its own, look it up on this page: a set-up that cannot work does not recover by itself.",action:"Bring the store back; Sluice tries it again by itself. See [failures](failures.md) and [operations](operations.md)."},SLUICE_STORE_UP:{meaning:"The store has recovered, and decides again.",cause:"A call that tested the store succeeded.",action:"Nothing."},SLUICE_ON_READ_ONLY:{meaning:"The callback `onReadOnly` of `redisStore` threw or rejected.",cause:"Often `client.connect()` in it rejects because the new master does not answer yet. The limiter keeps working.",action:"Catch errors in the callback. Sluice calls it again, at most once a second, as long as the server is read-only."},SLUICE_REQUEST_FAILED:{meaning:"A function of the options threw in a server without a framework, and the request got the status 500.",cause:"For example a `key` function that expects a field which a client left out.",action:"Fix the function; the message quotes what it threw. To handle errors yourself, give `failed`, the last argument of the limiter of `@sluice/node`. Sluice warns once."},SLUICE_ON_DECISION:{meaning:"The callback `onDecision` threw or rejected.",cause:"An error in your function. The decision is not affected.",action:"Fix the function."},SLUICE_SETTLE:{meaning:"A request was not corrected to its actual cost. The estimate is kept.",cause:"Your function `settle` threw, or returned something that is not an integer \u2265 0.",action:"Fix the function. Return `undefined` to keep the estimate."},SLUICE_MADE_PER_REQUEST:{meaning:"Limiters are created repeatedly, and each is used once. Such a limiter never limits.",cause:"`rateLimit()` or `createLimiter()` is called in a request handler, so each request has a new limiter with its own memory.",action:"Create the limiter once, outside the handler, and use it for every request."},SLUICE_KEY_MISSING:{meaning:"The key function returned no key. Such requests are limited by their address.",cause:"It returned nothing, empty text, or something that is not text, for example for a request without a session.",action:"Return text for every request."},SLUICE_KEY_IPV6:{meaning:"The key function returned a single IPv6 address.",cause:"Each client has at least 2^64 IPv6 addresses, so it can get a new limit for each request.",action:"Use `key: 'ip'`, which limits the network (`ipv6Prefix`), or return `addressKey(address)`."},SLUICE_KEY_KIND:{meaning:"`block` or `reset` was called with a key that no policy of the limiter uses.",cause:"For example with `'user:42'`, where no policy has `key: 'user'`.",action:"Give the kind of key that the policies use: an address, `user:` and the id, or `key:` and what your key function returns."},SLUICE_ADDRESS_UNKNOWN:{meaning:"A request has no address that can be read. All such requests share one quota.",cause:"The server listens on a Unix socket, or a proxy writes something else than an address.",action:"Name your proxies in `trustProxy`; behind a Unix socket give `trustProxy: 1`."},SLUICE_BODY_MISSING:{meaning:"A request without a body costs 0 by `estimateTokens`.",cause:"The request has none, or the limiter runs before the body is parsed. Then every request costs 0.",action:"Register the body parser before the limiter; in Fastify choose `hook: 'preValidation'`. Requests without a body need nothing."},SLUICE_PROXY_UNTRUSTED:{meaning:"Requests come through a proxy that is not trusted, so all clients behind it share one limit.",cause:"They have `X-Forwarded-For`, but no proxy is trusted.",action:"Name your proxies: `trustProxy: ['loopback', '10.0.0.0/8']`."},SLUICE_PROXY_EVERYBODY:{meaning:"Each client can choose its own address, and so get a new limit for each request.",cause:"The framework trusts every proxy, and so the first address in `X-Forwarded-For`, which the client writes.",action:"Name your proxies instead: `trustProxy: ['loopback', '10.0.0.0/8']`."},SLUICE_PROXY_HOPS:{meaning:"A client that reaches the server directly can choose its own address.",cause:"The framework counts hops in `X-Forwarded-For`, which is right only for requests that pass all proxies.",action:"Name your proxies instead: `trustProxy: ['loopback', '10.0.0.0/8']`."},SLUICE_PROXY_IGNORED:{meaning:"All clients behind a proxy share one limit.",cause:"Fastify ignores a number as `trustProxy` since 5.12.1.",action:"Name your proxies: `trustProxy: ['loopback', '10.0.0.0/8']`."}},ji={SLUICE_REFUSED:{meaning:"A request was refused. It is not a failure: this is what a limiter is for.",cause:"With `respond: 'throw'` a refusal goes to the application's error handler as a `RateLimitError`.",action:"Render it as you like, from `status`, `headers` and `decision`. The message may be shown to the client."}},An={misuse:Hi,setup:Bi,store:Yi,warning:Xi,refusal:ji};function H(r){return`(${r}, docs/errors.md#${r.toLowerCase()})`}function Cn(r){return An.setup[r].action.replaceAll("`","")}var u=class extends Error{name="SluiceError";code;option;expected;received;fix;constructor({code:e,option:t,expected:n,received:i,fix:o}){super(`${t}: expected ${n}, received ${Zi(i)}. ${o} ${H(e)}`),this.code=e,this.option=t,this.expected=n,this.received=i,this.fix=o}},zi=240,Vi=80;function Zi(r){let e=typeof r=="string"?zi:Vi,n=(0,On.inspect)(r,{depth:0,breakLength:1/0,maxStringLength:e-20}).replace(/\s*\n\s*/g," "),i=n.length>e?`${n.slice(0,e-3)}...`:n;if(r==null||typeof r=="function")return i;let o=typeof r=="object"?r.constructor?.name:typeof r;return o===void 0||i.startsWith(o)?i:`${i} (${o})`}function Se(r,e){let t=e.find(n=>{let i=Qi(r.toLowerCase(),n.toLowerCase());return i<=2&&i<n.length/3});return t===void 0?"":` (did you mean '${t}'?)`}function Qi(r,e){let t=Array.from({length:e.length+1},(n,i)=>i);for(let n=1;n<=r.length;n+=1){let i=[n];for(let o=1;o<=e.length;o+=1){let s=t[o-1]+(r[n-1]===e[o-1]?0:1);i.push(Math.min(t[o]+1,i[o-1]+1,s))}t=i}return t[e.length]}function C(r,e,t,n){let i=`an integer from ${t} to ${n}`;if(typeof e!="number"){let o=typeof e=="string"?"Convert it to a number first, for example with Number(process.env.LIMIT). Sluice does not coerce values.":`Give ${r} as a number.`;throw new u({code:"SLUICE_OPTION_TYPE",option:r,expected:i,received:e,fix:o})}if(!Number.isInteger(e)||e<t||e>n){let o=`Give ${r} as ${i}.`;throw new u({code:"SLUICE_OPTION_RANGE",option:r,expected:i,received:e,fix:o})}return e}function Ot(r){return r==="zero"?"from 0 to 1":"above 0, up to 1"}function Mn(r,e,t="zero",n=`Give ${r} as a share: 0.1 is ten percent.`){if(typeof e=="number"&&e>=0&&e<=1&&(e>0||t==="zero"))return e;throw new u({code:typeof e=="number"?"SLUICE_OPTION_RANGE":"SLUICE_OPTION_TYPE",option:r,expected:`a number ${Ot(t)}`,received:e,fix:n})}function Ee(r,e,t){if(t.includes(e))return e;let n=`one of ${t.map(o=>(0,Tn.inspect)(o)).join(", ")}`,i=`Choose one of them${Se(String(e),t.map(String))}.`;throw new u({code:"SLUICE_OPTION_VALUE",option:r,expected:n,received:e,fix:i})}function Tt(r,e,t){if(typeof e=="function")return e;throw new u({code:"SLUICE_OPTION_TYPE",option:r,expected:`a function ${t}`,received:e,fix:`Give ${r} as a function.`})}function Rn(r,e){if(typeof e=="boolean")return e;throw new u({code:"SLUICE_OPTION_TYPE",option:r,expected:"true or false",received:e,fix:`Give ${r} as a boolean, not as text.`})}function In(r){let e=Tt("clock",r,"() => integer ms since the epoch");return C("clock()",e(),0,864e13),e}function E(r,e,t){if(typeof e=="object"&&e!==null&&!Array.isArray(e))return e;throw new u({code:"SLUICE_OPTION_TYPE",option:r,expected:t,received:e,fix:`Give ${r} as an object.`})}var Ht=require("node:util");var b=class{a=0;b=0;c=0;log=void 0;blockedUntil=0;rebased=!1;admitted=!1;remaining=0;resetMs=0;retryAfterMs=0;effectiveMs=0;delayMs=0;counted=!1};var Ln=`-- Fixed window: the Lua form of fixed-window.ts, in the sections that stores/redis/compose.ts
-- documents.
-- state: a = number of the window since the epoch, b = units charged in it
-- constants: limit (units), window (ms)
--# constants limit window

--# enter
local number = (now - now % window) / window
rebased = a > number
if a < number then b = 0 end
a = number

--# decide
admitted = cost <= limit - b and b < limit

--# commit
b = b + cost

--# settle
if math.floor(math.min(chargedAt, now) / window) == a then
  b = math.min(MAX_EXACT, math.max(0, b + delta))
end

--# whole
wholeIn = b > 0 and (a + 1) * window - now or 0
`;var w=Number.MAX_SAFE_INTEGER;function xe(r,e){return r*e<=w?e:Math.min(Math.floor(w/r),Math.floor(w/e))}function B(r,e,t){if(t===e)return r;let n=Math.floor(r/e);return n*t+Math.floor((r-n*e)*t/e)}function Ae(r,e,t){if(t===e)return r;let n=Math.floor(r/t);return n*e+Math.ceil((r-n*t)*e/t)}function Mt(r,e){for(;e!==0;)[r,e]=[e,r%e];return r}var Y=class{units;windowMs;constructor({limit:e,windowMs:t}){this.units=e,this.windowMs=t}decide(e,t,n){let i=this.enter(e,t),o=this.units-e.b,s=n<=o&&o>0,a=s?e.b+n:e.b;e.admitted=s,e.remaining=Math.max(0,this.units-a),e.resetMs=a===0?0:i,e.effectiveMs=s||Math.max(n,1)<=this.units?i:1/0,e.retryAfterMs=s?0:e.effectiveMs,e.delayMs=0}commit(e,t,n){e.b+=n}settle(e,t,n,i){let o=this.enter(e,t);this.isInWindow(e,Math.min(i,t))&&(e.b=Math.min(w,Math.max(0,e.b+n))),e.remaining=Math.max(0,this.units-e.b),e.resetMs=e.b===0?0:o}};var Rt=class extends Y{algorithm=It;scale="";numbers;constructor(e){super(e),this.numbers=[e.limit,e.windowMs]}constants(){return this.numbers}enter(e,t){let n=this.windowAt(t);return e.rebased=e.a>n,e.a<n&&(e.b=0),e.a=n,(n+1)*this.windowMs-t}isInWindow(e,t){return this.windowAt(t)===e.a}windowAt(e){return Math.floor(e/this.windowMs)}},It={name:"fixed-window",options:{},maxLimit:1e12,keepsLog:!1,compile:r=>new Rt(r),lua:Ln};var Ce=`-- Token bucket and leaky bucket: the Lua form of bucket.ts, in the sections that
-- stores/redis/compose.ts documents.
-- state: a = level in parts, b = the tick at which it stood there
-- constants: capacity (parts), unit (parts per unit of cost), rate (parts that drain per tick), window
-- (ms), ticks per window (left out where a tick is a millisecond)
--# constants capacity unit rate window ticks

--# enter
local tick = now
if ticks then tick = tickAt(now, window, ticks) end
rebased = b > tick
if b < tick then
  a = a - (tick - b) * rate
  if a < 0 then a = 0 end
end
b = tick

--# decide
admitted = (cost > 0 and cost or 1) * unit <= capacity - a

--# commit
a = a + cost * unit

--# settle
local change = delta * unit
if delta < 0 then
  -- What has drained since the charge is no longer there to give back.
  local from = chargedAt
  if ticks then from = tickAt(chargedAt, window, ticks) end
  change = math.min(0, change + math.max(0, b - from) * rate)
end
a = math.min(MAX_EXACT, math.max(0, a + change))

--# whole
wholeIn = math.ceil(a / rate)
if ticks and wholeIn > 0 then wholeIn = tickStart(b + wholeIn, window, ticks) - now end

--# keep
-- As long again, since most requests fill it further, and at least for a window, up to an hour: so
-- few requests must renew the life of the key, or create it again.
keepFor = 2 * wholeIn
local least = window < 3600000 and window or 3600000
if keepFor < least then keepFor = least end
`;var X=class{algorithm;units;windowMs;scale;numbers;window;ticks;unit;rate;capacity;queued;constructor(e){this.algorithm=e.algorithm,this.units=e.shown.limit,this.windowMs=e.shown.windowMs,this.window=e.windowMs,this.queued=e.queueMs>0;let t=Math.ceil(e.queueMs/e.windowMs*e.limit),n=Math.max(e.capacity+t,1),i=e.oneOfSeveral?1:Mt(e.limit,e.windowMs),o=n*(e.windowMs/i)<=w;this.ticks=o?e.windowMs:xe(n,e.windowMs),!o&&e.oneOfSeveral&&(this.ticks=2**Math.floor(Math.log2(this.ticks)));let s=o||e.oneOfSeveral?i:Mt(e.limit,this.ticks);this.unit=this.ticks/s,this.rate=Math.max(1,e.limit/s),this.capacity=e.limit===0?0:e.capacity*this.unit+B(e.queueMs,this.window,this.ticks)*this.rate,this.scale=o?`${this.unit}`:`${this.unit}of${this.ticks}`;let{capacity:a,unit:d,rate:c,window:l,ticks:h}=this;this.numbers=o?[a,d,c,l]:[a,d,c,l,h]}constants(){return this.numbers}decide(e,t,n){let i=this.drain(e,t),o=e.a,s=Math.max(n,1)*this.unit,a=s<=this.capacity-o,d=a?o+n*this.unit:o,c=this.remaining(d);e.admitted=a,e.remaining=c,e.resetMs=this.after(i,t,d),e.delayMs=a&&this.queued?this.after(i,t,o):0,a?c>0?e.effectiveMs=this.after(i,t,c*this.unit):e.effectiveMs=this.after(i,t,d+this.unit-this.capacity):e.effectiveMs=s>this.capacity?1/0:this.after(i,t,o-this.capacity+s),e.retryAfterMs=a?0:e.effectiveMs}commit(e,t,n){e.a+=n*this.unit}settle(e,t,n,i){let o=this.drain(e,t),s=n*this.unit;if(n<0){let a=Math.max(0,o-B(i,this.window,this.ticks))*this.rate;s=Math.min(0,s+a)}e.a=Math.min(w,Math.max(0,e.a+s)),e.remaining=this.remaining(e.a),e.resetMs=this.after(o,t,e.a)}drain(e,t){let n=B(t,this.window,this.ticks);return e.rebased=e.b>n,e.b<n&&(e.a=Math.max(0,e.a-(n-e.b)*this.rate)),e.b=n,n}remaining(e){let t=this.capacity-e;return t>0?Math.floor(t/this.unit):0}after(e,t,n){let i=Math.ceil(n/this.rate);return this.ticks===this.window?i:i===0?0:Ae(e+i,this.window,this.ticks)-t}};var Pn=1e3,Lt={name:"leaky-bucket",options:{maxDelay:Pn},maxLimit:1e12,keepsLog:!1,compile({limit:r,windowMs:e,maxDelayMs:t=Pn,oneOfSeveral:n}){return new X({algorithm:Lt,shown:{limit:r,windowMs:e},limit:r,windowMs:e,oneOfSeveral:n,capacity:1,queueMs:t})},lua:Ce};var j=class{times=[];costs=[];head=0;tail=0;total=0;get length(){return this.tail-this.head}time(e){return this.times[this.head+e]}cost(e){return this.costs[this.head+e]}append(e,t){if(this.length>0&&this.times[this.tail-1]===e){this.total+=t,this.costs[this.tail-1]=this.costs[this.tail-1]+t;return}this.push(e,t)}push(e,t){this.total+=t,this.makeRoom(),this.times[this.tail]=e,this.costs[this.tail]=t,this.tail+=1}insert(e,t){this.total+=t;let n=this.endOf(e);if(n>this.head&&this.times[n-1]===e){this.costs[n-1]=this.costs[n-1]+t;return}this.times.splice(n,0,e),this.costs.splice(n,0,t),this.tail+=1}takeBack(e,t){let n=this.endOf(e),i=n;for(;i>this.head&&t>0;){let o=this.costs[i-1],s=Math.min(t,o);this.total-=s,t-=s,s<o?this.costs[i-1]=o-s:i-=1}this.times.splice(i,n-i),this.costs.splice(i,n-i),this.tail-=n-i}dropUntil(e){for(;this.head<this.tail&&this.times[this.head]<=e;)this.total-=this.costs[this.head],this.head+=1;this.head===this.tail&&this.startAfresh()}clampTo(e){for(let t=this.tail-1;t>=this.head&&this.times[t]>e;t-=1)this.times[t]=e}endOf(e){let t=this.head,n=this.tail;for(;t<n;){let i=t+n>>>1;this.times[i]<=e?t=i+1:n=i}return t}startAfresh(){this.head=this.tail=0,!(this.times.length<=32)&&(this.times.length=0,this.costs.length=0)}makeRoom(){let{head:e,length:t}=this;this.tail<this.times.length||t*2>this.times.length||(this.times.copyWithin(0,e,this.tail),this.costs.copyWithin(0,e,this.tail),this.tail=t,this.head=0)}};var _n=`-- Sliding log: the Lua form of sliding-log.ts, in the sections that stores/redis/compose.ts
-- documents.
-- state: a = entries dropped at the front, b = entries ever added, c = units in those not dropped;
--        behind them one entry of 16 bytes for each millisecond in which something was admitted:
--        time (ms), cost (units), oldest first
-- constants: limit (units), window (ms)
--# constants limit window

--# functions
local max, min = math.max, math.min
local ENTRY, CHUNK = 16, 64

-- Reads entries by number, a chunk at a time, since mostly a few side by side are all that is
-- needed. What is written meanwhile it may not see.
local function reader(key)
  local from, chunk = 0, ''
  return function(index)
    local at = (index - from) * ENTRY
    if at < 0 or at >= #chunk then
      from = index - index % CHUNK
      at = (index - from) * ENTRY
      local first = STATE + from * ENTRY
      chunk = redis.call('GETRANGE', key, first, first + CHUNK * ENTRY - 1)
    end
    return struct.unpack('<dd', chunk, at + 1)
  end
end

-- Steps over the expired entries: number of the first live one, units in the live ones.
local function trim(entry, horizon, a, b, c)
  while a < b do
    local time, cost = entry(a)
    if time > horizon then break end
    a, c = a + 1, c - cost
  end
  return a, c
end

local function write(key, index, time, cost)
  redis.call('SETRANGE', key, STATE + index * ENTRY, struct.pack('<dd', time, cost))
end

-- Moves entries from after \`now\`, where the clock has stepped back, to \`now\`.
local function clamp(key, entry, now, a, b)
  for index = b - 1, a, -1 do
    local time, cost = entry(index)
    if time <= now then return end
    write(key, index, now, cost)
  end
end

-- Rewrites the log without its dropped entries once they are the larger part.
local function compact(key, a, b)
  if a < CHUNK or a * 2 < b then return a, b end
  local first = STATE + a * ENTRY
  local header = redis.call('GETRANGE', key, 0, STATE - 1)
  local live = redis.call('GETRANGE', key, first, first + (b - a) * ENTRY - 1)
  redis.call('SET', key, header .. live, 'KEEPTTL')
  return 0, b - a
end

-- Number of the last entry at or before \`time\`, a - 1 if there is none.
local function lastUntil(entry, time, a, b)
  local low, high = a, b
  while low < high do
    local middle = math.floor((low + high) / 2)
    if entry(middle) <= time then low = middle + 1 else high = middle end
  end
  return low - 1
end

-- Takes out the entries from number \`first\` to \`last\`.
local function remove(key, first, last, a, b)
  if first > last then return a, b end
  if first == a then return last + 1, b end
  local behind = STATE + (last + 1) * ENTRY
  local later = redis.call('GETRANGE', key, behind, STATE + b * ENTRY - 1)
  if last + 1 < b then redis.call('SETRANGE', key, STATE + first * ENTRY, later) end
  return a, b - (last - first + 1)
end

-- Takes \`units\` from the entries up to number \`last\`, latest first, as far as they hold them.
local function takeBack(key, last, units, a, b, c)
  local entry, index = reader(key), last
  while index >= a and units > 0 do
    local time, cost = entry(index)
    if cost > units then
      write(key, index, time, cost - units)
      c = c - units
      break
    end
    units, c, index = units - cost, c - cost, index - 1
  end
  a, b = remove(key, index + 1, last, a, b)
  return a, b, c
end

-- Adds \`units\` at the time \`at\`, behind entry number \`index\`; later entries move up by one.
local function insert(key, index, at, units, a, b)
  if index >= a then
    local time, cost = reader(key)(index)
    if time == at then
      write(key, index, at, cost + units)
      return b
    end
  end
  local first = STATE + (index + 1) * ENTRY
  local later = redis.call('GETRANGE', key, first, STATE + b * ENTRY - 1)
  write(key, index + 1, at, units)
  if index + 1 < b then redis.call('SETRANGE', key, first + ENTRY, later) end
  return b + 1
end

-- ms until the oldest entries that hold \`units\` have left, counting \`added\` units of now
local function waitFor(entry, window, now, a, b, units, added)
  local freed = 0
  for index = a, b - 1 do
    local time, cost = entry(index)
    freed = freed + cost
    if freed > 0 and freed >= units then return min(time, now) + window - now end
  end
  return freed + added >= units and window or NEVER
end

local function reset(entry, window, now, a, b, c)
  if c == 0 or a == b then return 0 end
  return min((entry(b - 1)), now) + window - now
end

--# decide
local entry = reader(key)
rebased = a < b and entry(b - 1) > now
a, c = trim(entry, now - window, a, b, c)
local room = limit - c
admitted = cost <= room and room > 0
remaining = max(0, room)
if admitted then
  remaining = room - cost
  wait = waitFor(entry, window, now, a, b, remaining > 0 and 0 or 1, cost)
else
  local units = max(cost, 1)
  wait = units > limit and NEVER or waitFor(entry, window, now, a, b, units - room, 0)
end
resetIn = admitted and cost > 0 and window or reset(entry, window, now, a, b, c)

--# commit
local entry = reader(key)
clamp(key, entry, now, a, b)
if cost > 0 then
  local time, last
  if a < b then time, last = entry(b - 1) end
  if time and min(time, now) == now then
    write(key, b - 1, now, last + cost)
  else
    a, b = compact(key, a, b)
    write(key, b, now, cost)
    b = b + 1
  end
  c = c + cost
end
wholeIn = window

--# settle
local entry = reader(key)
clamp(key, entry, now, a, b)
entry = reader(key)
a, c = trim(entry, now - window, a, b, c)
local at = min(chargedAt, now)
if at > now - window then
  local last = lastUntil(entry, at, a, b)
  if delta < 0 then
    a, b, c = takeBack(key, last, -delta, a, b, c)
  elseif delta > 0 then
    b, c = insert(key, last, at, delta, a, b), c + delta
  end
end
wholeIn = reset(reader(key), window, now, a, b, c)

--# keep
keepFor = 2 * window
`;var Ji=1e5,Pt=class{algorithm=_t;units;windowMs;scale="";numbers;constructor({limit:e,windowMs:t}){this.units=e,this.windowMs=t,this.numbers=[e,t]}constants(){return this.numbers}decide(e,t,n){let{log:i}=e,o=i===void 0?0:this.used(i,t),s=i===void 0||i.length===0?void 0:i.time(i.length-1),a=this.units-o,d=n<=a&&a>0;e.admitted=d,e.rebased=s!==void 0&&s>t,e.remaining=Math.max(0,d?a-n:a),e.resetMs=this.reset(d?n:0,o,s,t),e.effectiveMs=d?this.wait(i,t,e.remaining>0?0:1,n):this.waitOfRefusal(i,t,Math.max(n,1),a),e.retryAfterMs=d?0:e.effectiveMs,e.delayMs=0}commit(e,t,n){e.log===void 0&&(e.log=new j),e.log.clampTo(t),e.log.dropUntil(t-this.windowMs),n>0&&e.log.append(t,n)}settle(e,t,n,i){this.commit(e,t,0);let o=e.log,s=Math.min(i,t);s>t-this.windowMs&&(n>0?o.insert(s,n):o.takeBack(s,-n));let a=this.used(o,t);e.remaining=Math.max(0,this.units-a),e.resetMs=this.reset(0,a,o.length>0?o.time(o.length-1):void 0,t)}used(e,t){let n=e.total;for(let i=0;i<e.length&&e.time(i)<=t-this.windowMs;i+=1)n-=e.cost(i);return n}reset(e,t,n,i){return e>0?this.windowMs:t===0||n===void 0?0:Math.min(n,i)+this.windowMs-i}waitOfRefusal(e,t,n,i){return n>this.units?1/0:this.wait(e,t,n-i,0)}wait(e,t,n,i){let o=0;for(let s=0;e!==void 0&&s<e.length;s+=1){let a=Math.min(e.time(s),t);if(!(a<=t-this.windowMs)&&(o+=e.cost(s),o>0&&o>=n))return a+this.windowMs-t}return o+i>=n?this.windowMs:1/0}},_t={name:"sliding-log",options:{},maxLimit:Ji,keepsLog:!0,compile:r=>new Pt(r),lua:_n};var Nn=`-- Sliding window: the Lua form of sliding-window.ts, in the sections that stores/redis/compose.ts
-- documents.
-- state: a = number of the window since the epoch, b = units charged in the window before it,
--        c = units charged in it
-- constants: limit (units), window (ms), ticks per window (left out where a tick is a millisecond)
--# constants limit window ticks

--# enter
local number = (now - now % window) / window
rebased = a > number
if a ~= number then
  if rebased then b = b + c elseif a == number - 1 then b = c else b = 0 end
  a, c = number, 0
end
if b > limit or c > limit then
  -- The most that a count may hold for its product with the ticks to be exact. At least the limit.
  local most = math.floor(MAX_EXACT / (ticks or window))
  b, c = math.min(b, most), math.min(c, most)
end

--# decide
local room = limit - c
if b > 0 then
  local inside = (a + 1) * window - 1 - now
  if ticks then inside = tickAt(inside, window, ticks) end
  room = room - math.floor(b * inside / (ticks or window))
end
admitted = cost <= room and room > 0

--# commit
c = c + cost

--# settle
local most = math.floor(MAX_EXACT / (ticks or window))
local charged = math.floor(chargedAt / window)
if charged == a then
  c = math.min(most, math.max(0, c + delta))
elseif charged == a - 1 or charged > a then
  b = math.min(most, math.max(0, b + delta))
end

--# whole
if c > 0 then
  -- Or sooner: but so the life of a key is renewed once a window.
  wholeIn = (a + 2) * window - now
elseif b > 0 then
  local faded = math.ceil((ticks or window) / b)
  if ticks then faded = tickStart(faded, window, ticks) end
  wholeIn = math.max(0, (a + 1) * window - faded - now)
else
  wholeIn = 0
end
`;var Nt=class{algorithm=Dt;units;windowMs;scale="";numbers;ticks;maxCount;constructor({limit:e,windowMs:t}){this.units=e,this.windowMs=t,this.ticks=xe(Math.max(e,1),t),this.maxCount=Math.floor(w/this.ticks);let n=this.ticks===t;this.numbers=n?[e,t]:[e,t,this.ticks]}constants(){return this.numbers}decide(e,t,n){let i=this.enter(e,t),o=this.remaining(e,i),s=n<=o&&o>0,a=s?o-n:o,d=s?e.c+n:e.c;e.admitted=s,e.remaining=a,e.resetMs=this.reset(e.b,d,i),e.effectiveMs=s&&a>0?this.windowMs-i:this.wait(e.b,d,i,s?1:Math.max(n,1)),e.retryAfterMs=s?0:e.effectiveMs,e.delayMs=0}commit(e,t,n){e.c+=n}settle(e,t,n,i){let o=this.enter(e,t),s=Math.floor(i/this.windowMs);s===e.a?e.c=this.clamp(e.c+n):(s===e.a-1||s>e.a)&&(e.b=this.clamp(e.b+n)),e.remaining=this.remaining(e,o),e.resetMs=this.reset(e.b,e.c,o)}enter(e,t){let n=Math.floor(t/this.windowMs);return e.rebased=e.a>n,e.a!==n&&(e.b=e.a>n?e.b+e.c:e.a===n-1?e.c:0,e.c=0,e.a=n),e.b>this.maxCount&&(e.b=this.maxCount),e.c>this.maxCount&&(e.c=this.maxCount),t-n*this.windowMs}remaining(e,t){let n=this.units-e.c;if(e.b>0){let i=B(this.windowMs-1-t,this.windowMs,this.ticks);n-=Math.floor(e.b*i/this.ticks)}return Math.max(0,n)}reset(e,t,n){return t>0?this.windowMs-n+this.fadedBy(t,0):Math.max(0,this.fadedBy(e,0)-n)}wait(e,t,n,i){if(i>this.units)return 1/0;let o=this.units-t-i;return o>=0&&e>0?this.fadedBy(e,o)-n:this.windowMs-n+this.fadedBy(t,this.units-i)}fadedBy(e,t){if(e<=t)return 0;let n=Math.ceil((t+1)*this.ticks/e);return this.windowMs-Ae(n,this.windowMs,this.ticks)}clamp(e){return Math.min(this.maxCount,Math.max(0,e))}},Dt={name:"sliding-window",options:{},maxLimit:1e12,keepsLog:!1,compile:r=>new Nt(r),lua:Nn};var Ut={name:"token-bucket",options:{burst:"limit"},maxLimit:1e12,keepsLog:!1,compile({limit:r,windowMs:e,burst:t=r,oneOfSeveral:n}){let i=t===r?e:Math.ceil(t*e/r);return new X({algorithm:Ut,shown:{limit:t,windowMs:i},limit:r,windowMs:e,oneOfSeveral:n,capacity:t,queueMs:0})},lua:Ce};var Dn=`-- Ban: the Lua form of ban.ts, in the sections that stores/redis/compose.ts documents.
-- state: a = bans so far \xD7 128 + refusals counted, b = when the first of these came,
--        c = when the last of these came; without any, when the last ban ends (ms)
-- constants: after (refusals), within (ms), how long each ban lasts (ms)
--# constants after within ban1 ban2 ban3 ban4 ban5 ban6 ban7 ban8 ban9 ban10
--# refusals

--# enter
local count = a % 128
local latest = now
if a > 0 and count == 0 then
  latest = now + ({ ban1, ban2, ban3, ban4, ban5, ban6, ban7, ban8, ban9, ban10 })[a / 128]
end
if c > latest then
  rebased = true
  b = math.min(b, now)
  c = latest
end
if a > 0 and now - c >= within then a, b, c, count = 0, 0, 0, 0 end

--# decide
admitted = a == 0 or count > 0 or now >= c

--# commit
if cost > 0 then
  local count = a % 128
  local bans = (a - count) / 128
  if count == 0 or now - b >= within then count, b = 0, now end
  count = count + 1
  c = now
  if count >= after then
    count = 0
    bans = math.min(bans + 1, 10)
    c = now + ({ ban1, ban2, ban3, ban4, ban5, ban6, ban7, ban8, ban9, ban10 })[bans]
  end
  a = bans * 128 + count
end

--# whole
wholeIn = a > 0 and c + within - now or 0
`;var ce=100,de=10,z=128,Kt=class{algorithm=O;units;windowMs;scale="";numbers;countsRefusals=!0;bansMs;constructor({limit:e,windowMs:t,bansMs:n=[]}){this.units=e,this.windowMs=t,this.bansMs=Array.from({length:de},(i,o)=>n[o]??n.at(-1)),this.numbers=[e,t,...this.bansMs]}decide(e,t){this.enter(e,t),e.counted=!1,this.show(e,t)}commit(e,t,n){if(n===0)return;let i=e.a%z,o=(e.a-i)/z;(i===0||t-e.b>=this.windowMs)&&(i=0,e.b=t),i+=1,e.c=t,i>=this.units&&(i=0,o=Math.min(o+1,de),e.c=t+this.bansMs[o-1]),e.a=o*z+i,e.counted=!0,this.show(e,t)}settle(e,t){this.decide(e,t)}constants(){return this.numbers}enter(e,t){let i=e.a>0&&e.a%z===0?t+this.bansMs[e.a/z-1]:t;e.rebased=e.c>i,e.rebased&&(e.b=Math.min(e.b,t),e.c=i),t-e.c>=this.windowMs&&(e.a=e.b=e.c=0)}show(e,t){let{a:n,b:i,c:o}=e,s=n%z,a=n>0&&s===0?Math.max(0,o-t):0,d=t-i>=this.windowMs?0:s;e.admitted=a===0,e.remaining=a===0?this.units-d:0,e.resetMs=n===0?0:o+this.windowMs-t,e.retryAfterMs=a,e.effectiveMs=a,e.delayMs=0}},O={name:"ban",options:{},maxLimit:ce,keepsLog:!1,compile:r=>new Kt(r),lua:Dn};var Un=`-- Concurrency: the Lua form of concurrency.ts, in the sections that stores/redis/compose.ts
-- documents.

-- limit (slots), hold (ms)
--# constants limit hold
-- a = entries; behind the state one of 16 bytes for each slot: until when it is held (ms), its
-- number; the next to expire first
--# functions
local ENTRY, ASK_AGAIN = 16, 1000

local function entriesOf(key, count)
  if count == 0 then return '' end
  return redis.call('GETRANGE', key, STATE, STATE + count * ENTRY - 1)
end

-- How many entries expire at or before \`time\`.
local function countUntil(entries, time)
  local low, high = 0, #entries / ENTRY
  while low < high do
    local middle = math.floor((low + high) / 2)
    if struct.unpack('<d', entries, middle * ENTRY + 1) <= time then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- The entries without those that have expired; what is held too long, since the clock has stepped
-- back, is held until \`latest\`.
local function current(entries, now, latest)
  entries = string.sub(entries, countUntil(entries, now) * ENTRY + 1)
  local kept = countUntil(entries, latest)
  if kept * ENTRY == #entries then return entries end
  local time, parts = struct.pack('<d', latest), { string.sub(entries, 1, kept * ENTRY) }
  for at = kept * ENTRY, #entries - 1, ENTRY do
    parts[#parts + 1] = time .. string.sub(entries, at + 9, at + ENTRY)
  end
  return table.concat(parts)
end

local function without(entries, slot)
  local number, from = struct.pack('<d', slot), 1
  while true do
    local first = string.find(entries, number, from, true)
    if not first then return entries end
    -- Elsewhere in an entry it is something else.
    if first % ENTRY == 9 then
      return string.sub(entries, 1, first - 9) .. string.sub(entries, first + 8)
    end
    from = first + 1
  end
end

local function write(key, entries)
  if #entries > 0 then redis.call('SETRANGE', key, STATE, entries) end
  return #entries / ENTRY
end

-- ms until the last entry expires
local function reset(entries, now)
  if #entries == 0 then return 0 end
  return struct.unpack('<d', entries, #entries - ENTRY + 1) - now
end

--# decide
local entries = entriesOf(key, a)
rebased = countUntil(entries, now + hold) < a
local room = limit - a + countUntil(entries, now)
admitted = cost <= room and room > 0
remaining = math.max(0, admitted and room - cost or room)
wait = math.max(cost, 1) > limit and NEVER or ASK_AGAIN
if admitted and cost > 0 then
  resetIn = hold
else
  resetIn = math.max(0, math.min(reset(entries, now), hold))
end

--# commit
local entries = current(entriesOf(key, a), now, now + hold)
if cost > 0 and slot > 0 then
  entries = without(entries, slot) .. struct.pack('<dd', now + hold, slot)
end
a, wholeIn = write(key, entries), reset(entries, now)

--# settle
local entries = current(entriesOf(key, a), now, now + hold)
if delta ~= 0 and slot > 0 then
  entries = without(entries, slot)
  if delta > 0 then entries = entries .. struct.pack('<dd', now + hold, slot) end
end
a, wholeIn = write(key, entries), reset(entries, now)

--# keep
keepFor = 2 * hold
`;var eo=1e3,to=1e3,$t=class{algorithm=$;units;windowMs;scale="";numbers;constructor({limit:e,windowMs:t}){this.units=e,this.windowMs=t,this.numbers=[e,t]}constants(){return this.numbers}decide(e,t,n){let{log:i}=e,o=t+this.windowMs,s=i===void 0||i.length===0?t:i.time(i.length-1),a=this.units-(i===void 0?0:no(i,t)),d=n<=a&&a>0;e.admitted=d,e.rebased=s>o,e.remaining=Math.max(0,d?a-n:a),e.resetMs=d&&n>0?this.windowMs:Math.max(0,Math.min(s,o)-t),e.effectiveMs=Math.max(n,1)>this.units?1/0:to,e.retryAfterMs=d?0:e.effectiveMs,e.delayMs=0}commit(e,t,n,i){e.log=this.heldAt(t,e.log,n>0?i:void 0),n>0&&i!==void 0&&e.log.push(t+this.windowMs,i)}settle(e,t,n,i,o){let s=this.heldAt(t,e.log,n===0?void 0:o);n>0&&o!==void 0&&s.push(t+this.windowMs,o),e.log=s,e.remaining=Math.max(0,this.units-s.length),e.resetMs=s.length===0?0:s.time(s.length-1)-t}heldAt(e,t,n){let i=new j;for(let o=0;t!==void 0&&o<t.length;o+=1){let[s,a]=[t.time(o),t.cost(o)];s>e&&a!==n&&i.push(Math.min(s,e+this.windowMs),a)}return i}};function no(r,e){let t=0;for(;t<r.length&&r.time(t)<=e;)t+=1;return r.length-t}var $={name:"concurrency",options:{},maxLimit:eo,keepsLog:!0,holdsSlots:!0,compile:r=>new $t(r),lua:Un};var T={"sliding-window":Dt,"fixed-window":It,"sliding-log":_t,"token-bucket":Ut,"leaky-bucket":Lt},le=Object.keys(T),Kn="sliding-window";var he=require("node:util");function $n(r,e,t){if(t===void 0)return 1;if(typeof t=="number")return t;let n=typeof t=="string"?new Date(t):new Date(e.local(t.getTime()));return r==="month"?n.getUTCDate():n.getUTCDay()||7}function qn(r){return/^\d{4}-\d\d-\d\d$/.test(r)&&new Date(r).toJSON()?.slice(0,10)===r}var ue=["day","week","month"];var qt={day:864e5,week:6048e5,month:26784e5},V=class{name;lengthMs;zone;unit;anchor;last={start:0,end:0};constructor(e,t,n,i=!1){this.unit=e,this.zone=t,this.anchor=e==="day"?1:n,this.lengthMs=qt[e],this.name=`${e}:${t.name}:${i?"*":this.anchor}`}at(e){let{last:t}=this;if(t.start<=e&&e<t.end)return t;let n=this.guess(this.zone.local(e)),i=this.start(n);for(;i>e;)i=this.start(--n);let o=this.start(++n);for(;o<=e;)[i,o]=[o,this.start(++n)];return this.last={start:i,end:o},this.last}guess(e){if(this.unit==="month"){let t=new Date(e);return 12*(t.getUTCFullYear()-1970)+t.getUTCMonth()}return Math.floor(e/this.lengthMs)}start(e){return this.zone.startOfDay(this.firstDay(e))}firstDay(e){if(this.unit==="day")return e*864e5;if(this.unit==="week")return(7*e+this.anchor-4)*864e5;let t=new Date(Date.UTC(1970,e+1,0)).getUTCDate();return Date.UTC(1970,e,Math.min(this.anchor,t))}};var L=class{name;format;constructor(e){this.format=new Intl.DateTimeFormat("en-US",{timeZone:e,calendar:"iso8601",numberingSystem:"latn",hourCycle:"h23",year:"numeric",month:"numeric",day:"numeric",hour:"numeric",minute:"numeric",second:"numeric"}),this.name=this.format.resolvedOptions().timeZone}local(e){let t={};for(let{type:c,value:l}of this.format.formatToParts(e))t[c]=Number(l);let{year:n,month:i,day:o,hour:s,minute:a,second:d}=t;return Date.UTC(n,i-1,o,s,a,d)}startOfDay(e){let t=this.offset(e-864e5),n=this.offset(e+864e5),i=e-Math.max(t,n);if(this.local(i)===e)return i;let o=e-Math.min(t,n);return this.local(o)===e?o:this.firstInstantFrom(e,i,o)}offset(e){return this.local(e)-Math.floor(e/1e3)*1e3}firstInstantFrom(e,t,n){let[i,o]=[t,n];for(;o-i>1;){let s=Math.floor((i+o)/2);this.local(s)>=e?o=s:i=s}return o}};var Wn=[{symbol:"y",words:["year","yr"],ms:315576e5},{symbol:"w",words:["week"],ms:6048e5},{symbol:"d",words:["day"],ms:864e5},{symbol:"h",words:["hour","hr"],ms:36e5},{symbol:"m",words:["minute","min"],ms:6e4},{symbol:"s",words:["second","sec"],ms:1e3},{symbol:"ms",words:["millisecond","msec"],ms:1}],ro=new Map(Wn.flatMap(({symbol:r,words:e,ms:t})=>[r,...e,...e.map(n=>`${n}s`)].map(n=>[n,t]))),Z=315576e6;function q(r,e,t=1,n=Z,i=`Write ${r}: '1m' or ${r}: 60_000 for a minute.`){let o=typeof e=="string"?oo(e):e;if(typeof o=="number"&&Number.isInteger(o)&&o>=t&&o<=n)return o;throw new u({code:typeof o=="number"?"SLUICE_OPTION_RANGE":"SLUICE_OPTION_TYPE",option:r,expected:`whole milliseconds as a number, or text with a unit such as '1m', from ${t} ms to ${Wt(n)}`,received:e,fix:i})}function Wt(r){if(r%1e3!==0)return`${r} ms`;let e=Wn.find(({ms:o})=>r%o===0),{words:t,ms:n}=e,i=r/n;return`${i} ${t[0]}${i===1?"":"s"}`}var io=40;function oo(r){if(r.length>io)return;let[,e,t="",n=""]=/^(\d+)(?:\.(\d+))? ?([a-z]+)$/.exec(r)??[],i=ro.get(n);if(e===void 0||i===void 0)return;let o=BigInt(e+t)*BigInt(i),s=10n**BigInt(t.length);return o%s===0n?Number(o/s):Number.NaN}function P(r,e,t){return{form:"integer",range:`${Fn(r)} \u2026 ${Fn(e)} ${t}`,typescript:"number",check:(n,i,o=e)=>C(n,i,r,o)}}function Q(r=1,e=Z,t){return{form:"duration",range:`${r} ms \u2026 ${Wt(e)}`,typescript:"Duration",check:(n,i)=>q(n,i,r,e,t)}}function Gn(){let r=Q();return{...r,form:`duration, or ${ue.map(e=>me((0,he.inspect)(e))).join(", ")}`,typescript:"Duration | CalendarUnit",check:(e,t)=>ue.find(n=>n===t)??r.check(e,t)}}var Hn={form:"text",range:"an IANA time zone such as `'Europe/Berlin'`",typescript:"string",check(r,e){try{if(typeof e=="string")return new L(e)}catch{}throw new u({code:"SLUICE_OPTION_VALUE",option:r,expected:"an IANA time zone that this Node knows",received:e,fix:"Write a name such as 'Europe/Berlin', or 'UTC'."})}},Bn={form:"integer, 1 \u2026 31, a date such as `'2026-11-21'`, or a `Date`",typescript:"Anchor | undefined",check(r,e){if(typeof e=="number")return C(r,e,1,31);if(typeof e=="string"&&qn(e)||e instanceof Date&&!Number.isNaN(e.getTime()))return e;throw new u({code:"SLUICE_OPTION_VALUE",option:r,expected:"a day of the month from 1 to 31, a date such as '2026-11-21', or a Date",received:e,fix:"Write the day on which the plan renews, such as 15 or '2026-11-15'."})}};function Ft(r,e){return{form:"number",range:Ot(r),typescript:"number",check:(t,n)=>Mn(t,n,r,e)}}var Oe={form:"`true` or `false`",typescript:"boolean",check:Rn};function J(r,e){let t=r.map(n=>(0,he.inspect)(n));return{form:so(t.map(me)),typescript:`OneOf<${e??t.join(" | ")}>`,check:(n,i)=>Ee(n,i,r)}}function fe(r,e,t){return{form:"text",range:e,typescript:"string",check(n,i){if(typeof i=="string"&&r.test(i))return i;throw new u({code:"SLUICE_OPTION_VALUE",option:n,expected:e,received:i,fix:t})}}}function Gt(r){let e=`text of at least ${r} characters`;return{form:e,typescript:"string",check(t,n){if(typeof n=="string"&&n.length>=r)return n;throw new u({code:"SLUICE_SECRET",option:t,expected:e,received:typeof n=="string"?`${n.length} characters`:typeof n,fix:"Take it from a secret store or the environment, and use the same in every process."})}}}function _(r,e,...t){let n=t.map(i=>`, or ${(0,he.inspect)(i)}`).join("");return{form:`function ${me(r)}${t.map(i=>`, or ${me((0,he.inspect)(i))}`).join("")}`,typescript:e,check:(i,o)=>t.includes(o)?o:Tt(i,o,`${r}${n}`)}}var Te={form:"function `() => integer ms since the epoch`",typescript:"() => number",check:(r,e)=>In(e)};function Yn(r,e,t){let{form:n,check:i}=J(r);return{form:`${n}, or a function ${me(e)}`,typescript:t,check:(o,s)=>typeof s=="function"?s:i(o,s)}}function M(r,e){return{form:e,typescript:r,check:(t,n)=>n}}function so(r){return r.length<2?r.join():`${r.slice(0,-1).join(", ")} or ${r.at(-1)}`}function me(r){return`\`${r}\``}function Fn(r){if(r===Number.MAX_SAFE_INTEGER)return"2^53 \u2212 1";let e=Math.log10(r);return e>=6&&Number.isInteger(e)?`10^${e}`:r.toLocaleString("en-US")}var zn=["requests","tokens","input-tokens","output-tokens","content-bytes"],Xn=zn.map(r=>`'${r}'`),jn="a name of your own, 1 to 64 of a-z 0-9 -",Vn={form:`${Xn.map(r=>`\`${r}\``).join(", ")}, or ${jn}`,typescript:"Unit",check(r,e){let t=typeof e=="string"?zn.find(n=>co(n,e)):void 0;if(t===void 0?ao(e):e===t)return e;throw new u({code:typeof e=="string"?"SLUICE_OPTION_VALUE":"SLUICE_OPTION_TYPE",option:r,expected:`${Xn.join(", ")}, or ${jn}`,received:e,fix:t===void 0?"Name what the policy counts per window in lower case, such as rows.":`Write '${t}', or choose a name that is not so similar.`})}};function ao(r){return typeof r!="string"||r==="concurrent-requests"?!1:/^[a-z][a-z0-9-]{0,63}$/.test(r)}function co(r,e){let t=n=>n.toLowerCase().replace(/s?[^a-z]+|s$/g,"");return t(r)===t(e)}var lo={name:{type:fe(/^[\x20-\x7e]{1,128}$/,"1 to 128 printable ASCII characters","Choose a short name such as burst or daily: header fields contain it."),default:"default",onlyInPolicies:!0,description:"Identifies the policy in decisions, header fields and keys. Two policies of a limiter cannot have names that differ only in case."},limit:{type:P(0,1e12,"units"),required:"unless `policies` or `concurrent` is set",perRequest:!0,description:"The units that one key may use per window. A request costs one unit, unless `cost` says otherwise. 0 refuses everything.",peers:{max:!0,points:!0}},window:{type:Gn(),required:"unless `policies` or `concurrent` is set",perRequest:Q(),description:"The length of the window. A unit of the calendar: fixed windows that begin at midnight in `timeZone`, on the day that `anchor` says. Then decisions and header fields have 7 days or 31 days as the length of a week or a month. Each length that a function returns has its own quota; a process accepts 16 of them.",see:"See the recipes of [calendar windows](recipes.md#quotas-by-the-calendar) and of [plans with different windows](recipes.md#plans-with-different-windows).",peers:{windowMs:!0,timeWindow:!0,ttl:!0,duration:"window: ms, or text such as '1m'"}},timeZone:{type:Hn,unset:"`'UTC'`",description:"With a `window` of the calendar: where its days begin."},anchor:{type:Bn,unset:"the 1st of the month, Monday",perRequest:!0,description:"With `window: 'month'`: the day on which months begin; in a shorter month it is the last day. With `window: 'week'`: a date whose weekday weeks begin on. A function may return `undefined` for the default. If the day of a client changes, what it has used counts until the window ends in which it used it."},algorithm:{type:J(le,"AlgorithmName"),default:Kn,description:"How the units are counted.",see:"See [the five algorithms](../README.md#the-five-algorithms) and [choosing a limit](choosing.md).",peers:{execEvenly:"algorithm: 'leaky-bucket'",...R("algorithm: 'leaky-bucket', with maxDelay","delayMs","delayAfter")}},burst:{type:P(1,1e12,"units"),unset:"the default of the algorithm",description:"What the bucket holds when it is full."},maxDelay:{type:Q(0),unset:"the default of the algorithm",description:"The longest that an admitted request waits for its turn. A request that would wait longer is refused."},unit:{type:Vn,default:"requests",description:"What is counted. Clients see the policy if the header profile has a word for its unit. In an adapter, every unit but `requests` needs a `cost` or `settle`.",see:"See [budgets in tokens](recipes.md#budgets-in-tokens)."}},uo={concurrent:{type:P(0,1e3,"requests"),required:"instead of `limit` and `window`",perRequest:!0,description:"The requests of one key that may be in progress at the same time. A request uses a slot until the application has ended its response. 0 refuses everything.",see:"See [requests in progress](recipes.md#requests-in-progress)."},hold:{type:Q(1e3,36e5),default:"30s",description:"With `concurrent`: how long a slot stays in use if its process no longer renews it, because the process died or the client has left a request that never ends. A process renews its slots three times in this time."}},ho={key:{type:Yn(["ip","user"],"(request) => text or a number","KeyOption<Request>"),default:"ip",inPolicies:"the limiter's `key`",description:"What identifies a client: its address, the signed-in user, or what a function returns. Without a user, or if the function returns nothing, it is the address.",peers:R("key: 'ip', 'user' or (request) => text","keyGenerator","getTracker","id")},cost:{type:P(0,Number.MAX_SAFE_INTEGER,"units"),default:1,perRequest:!0,inPolicies:"the limiter's `cost`",description:"What a request costs. A number above the limit is an error: no request could ever be admitted."},settle:{type:_("(request, response) => cost","SettleOption<Request, Response>"),unset:"none",inPolicies:"the limiter's `settle`, unless the policy has a `cost` of its own",description:"Returns what a request has really cost, or `undefined` to keep the estimate. Called when the application has ended the response: the difference to `cost` is given back or charged, into debt if necessary. Also called before, when the client leaves and once per window of a slow response: then what the request has cost so far is charged, and nothing is given back.",see:"See [recipes](recipes.md).",peers:R("settle: (request, response) => the actual cost","skipSuccessfulRequests","skipFailedRequests","requestWasSuccessful")}},mo={policies:{type:M("","array of 1 to 32 policies"),unset:"one policy, from the options themselves",description:"Policies that are decided together: all must admit a request, and none is charged if one refuses.",peers:{identifier:"policies: [{ name, limit, window }], with this as the policy's name"}}},fo={store:{type:M("StoreOption<M>","a client of Redis as it is, or a store"),unset:"a memory store of its own",perRoute:!1,description:"Where the counts are kept.",see:"See [the stores](../packages/core/README.md#stores) and [a store of your own](stores.md).",peers:{...R("store: the client of Redis or Valkey itself","redis","driver","db","storeClient"),cache:"store: memoryStore({ maxKeys })"}},prefix:{type:fe(/^[\w.:-]{1,64}$/,"1 to 64 characters of A-Z a-z 0-9 . _ : -","Choose a namespace such as 'my-api'."),default:"sluice",perRoute:!1,description:"Namespace of the keys in the store. Two limiters on one store share a quota if their prefixes and the name, algorithm (with `burst` or `maxDelay`), window and limit of the policy are the same.",peers:{nameSpace:!0,namespace:!0,keyPrefix:!0}},ban:{type:M("BanOptions","object `{ after, within, for }`: 1 \u2026 100 refusals, a duration, and an array of 1 \u2026 10 durations"),unset:"none",description:"After so many refusals of a key `within` a duration, everything of that key is refused for the first duration of the list `for`; after the next ones for the next, and so on; the last one repeats. Once `within` has passed without a refusal after the last ban, all is forgotten. The key is that of the first policy. What is refused during a ban is not counted, nor is what the refusal cache answers.",see:"See [bans](recipes.md#ban-clients-that-ignore-refusals)."},deadline:{type:Q(1,6e4,"Choose a time that your clients can wait, such as 100 ms."),default:"100ms",description:"The longest that a request waits for a remote store. After that `onStoreError` decides.",peers:{timeout:"deadline"}},onStoreError:{type:J(["local","allow","deny"]),default:"local",description:"What decides while a remote store fails. `'local'`: this process, with the same policies, starting from what it has admitted itself. `'allow'`: all requests are admitted. `'deny'`: all are refused, with 503.",see:"See [failures](failures.md) and [operations](operations.md).",peers:R("onStoreError: 'local' (the default), 'allow' or 'deny'","skipOnError","passOnStoreError","insuranceLimiter")},localShare:{type:Ft("above zero","Give one process its share of the load: 0.25 for four processes."),default:1,description:"With `onStoreError: 'local'`: the share of every limit that this process admits by itself while the store fails, at least one unit: 0.25 if four processes share the load. What the store still has left when it is back comes on top."},refusalCache:{type:Oe,unset:"true, unless something in this process settles on the same quota",description:"Whether a client that has nothing left is refused from memory, for at most 10 s before a remote store is asked again. What another process gives back by `reset` or `settle` is seen no sooner."}},po={name:{type:fe(/^[\x20-\x7e]{1,128}$/,"1 to 128 printable ASCII characters","Choose a short name such as login or api."),unset:"none",description:"Identifies the limiter in events and metrics.",see:"See [events](events.md)."},onDecision:{type:_("(decision, request, key)","(decision: Decision, request: Request, key: string) => void"),unset:"none",description:"Called with every decision, for logs and metrics; of `createLimiter` with those of `consume` and `acquire`, without a request.",peers:R("onDecision, for every decision","onLimited","onExceeded","onExceeding")},keySecret:{type:Gt(16),unset:"none",description:"With a secret, the events of refusals and bans have `keyHash`: an HMAC-SHA-256 of the client's key, in base64url.",see:"See [events](events.md)."}},yo={user:{type:_("(request) => id","UserOption<Request>"),unset:"the `id` or `sub` of what the framework has as its user",description:"The user's id for `key: 'user'`, or undefined if nobody is signed in."},trustProxy:{type:M("TrustProxyOption","addresses, CIDRs and the names `loopback`, `linklocal`, `uniquelocal`; a number of hops; a function `(address, hop) => boolean`; or `{ proxies, header }`, with one of these and the name of the field"),unset:"the framework's own setting",description:"Which proxies to trust about the client's address, and which field they write: `X-Forwarded-For`, or `header: 'Forwarded'` (RFC 7239). The other field is not read.",see:"The framework's own setting is Express's `trust proxy`, Fastify's `trustProxy`, and Koa's `proxy` with `maxIpsCount`. See [security](security.md)."},ipv6Prefix:{type:P(32,128,"bits"),default:56,description:"IPv6 addresses that have so many bits in common share a key.",peers:{ipv6Subnet:!0}},skip:{type:_("(request, key) => boolean","(request: Request, key: () => MaybePromise<string>) => MaybePromise<boolean>"),unset:"none",description:"Requests for which it returns true are neither limited nor counted. `key()` reads the key of the request, once; await it, because a key function may be async.",peers:{skipIf:"skip"}},allow:{type:M("readonly string[]","array of addresses, CIDRs and keys"),unset:"none",description:"Clients that are never limited nor counted.",peers:R("allow: addresses, CIDRs and keys; for a function, skip","allowList","whitelist")},deny:{type:M("readonly string[]","array of addresses, CIDRs and keys"),unset:"none",description:"Clients that are always refused, with 403, their preflights too. A client on both lists is refused.",peers:{blacklist:"deny: addresses, CIDRs and keys"}},headers:{type:M("OneOf<HeaderProfile> | readonly OneOf<HeaderProfile>[] | boolean","a profile, an array of compatible ones, or `false`"),default:["draft-11","draft-6"],description:"Which rate-limit fields responses have. `Retry-After` is sent with every refusal, even with `false`.",see:"See [the profiles](#header-profiles).",peers:{...R("headers: 'draft-11', 'draft-6', 'legacy' \u2026 or false","standardHeaders","legacyHeaders","enableDraftSpec","addHeaders"),disableHeader:"headers: false"}},retryAfterJitter:{type:Ft("zero"),default:.1,description:"The share of the wait that is added to `Retry-After` at random, upward only, at most 30 s. So clients that were refused together do not return together."},partitionSecret:{type:Gt(16),unset:"none",description:"With a secret, the fields have a partition key (`pk`): an HMAC of the client's key."},statusCode:{type:J([429,503]),default:429,description:"The status of a refusal.",peers:{status:"statusCode: 429 or 503"}},respond:{type:_("(decision, request, response, key)","OneOf<'throw' | 'continue'> | ((decision: Decision, request: Request, response: Response, key: string) => unknown)","throw","continue"),unset:"problem+json (RFC 9457)",description:"Writes the body of the refusal. Status and header fields are set already. `'throw'` hands the refusal to the application's error handler, as a `RateLimitError`. `'continue'` lets a request go on that a policy refuses: it is not charged, and the decision on the request says so. Clients on `deny`, and those that `onStoreError` refuses, are refused with the default body.",peers:{...R("respond: (decision, request, response) => \u2026, or 'throw'","message","handler","errorMessage","errorResponseBuilder"),throw:"respond: 'throw'"}},dryRun:{type:Oe,default:!1,description:"Decides, counts and reports, but never refuses and sends no fields."},maxWaiting:{type:P(0,1e6,"requests"),default:1e3,description:"With a leaky bucket: how many requests of this limiter wait for their turn in this process at most. Further ones are refused. A key gets another place only while it has fewer than are free, so a single key gets at most half of them."}},go={address:{type:_("(context)","(context: Context) => string | undefined"),unset:"none: an error, unless `key` or `trustProxy` says who the client is",description:"Hono and the Fetch standard, whose requests do not have the client's address: returns it. For `limitFetch` it gets the arguments of the handler."},routes:{type:M("","object: `{ 'POST /login': { limit: 5, window: '15m' }, '/health': false }`"),unset:"none",description:"Express, Koa, Hono, Node and the Fetch standard: options that differ by route. The most specific entry wins, one with a method before one without. `false` exempts the route."},hook:{type:J(["onRequest","preValidation","preHandler"]),default:"onRequest",description:"Fastify: when requests are decided, also per route. `'onRequest'`: before anything of the body is read. `'preValidation'`: when the body is parsed. `'preHandler'`: when it is validated, and the application knows the user."}},bo={maxKeys:{type:P(1,1e8,"keys"),default:1e6,description:"The most keys that are kept, over all limiters that use the store. A key with three policies counts three times. When the store is full, expired keys are removed first, then those nearest to a full quota. A key that is being refused is never removed: if all keys are, new keys share one quota. A million keys need about 60 MB, and the keys themselves."},clock:{type:Te,unset:"the wall clock; a turn of the event loop that asks often stops reading it",description:"A clock for tests."}},wo={clock:{type:Te,unset:"the server's `TIME`, read by the script",description:"A clock for tests."},onReadOnly:{type:_("()","() => unknown"),unset:"none",description:"Called, at most once in 1,000 ms, when the server says that it is a read-only replica: after a failover the client may still be connected to the old master. Sluice never touches the connection of the client, so make the client reconnect here. May be async; what it throws becomes a warning.",see:"node-redis needs it, ioredis has [an option of its own](../packages/core/README.md#stores)."}},ko={schema:{type:fe(/^[^\0]{1,63}$/,"1 to 63 characters","Give the name of the schema that has the table, without quotes."),default:"public",description:"The schema of the table `sluice_states`."},logged:{type:Oe,default:!1,description:"Whether the table that `migrate()` creates survives a crash of the server. An UNLOGGED table is empty after a crash and after a failover: all quotas are whole again, and blocks are gone. It writes much less.",see:"See [what a crash means](../packages/postgres/README.md#what-a-crash-means)."},clock:{type:Te,unset:"the server's `clock_timestamp()`",description:"A clock for tests."}},f={policy:lo,concurrency:uo,requestPolicy:ho,policies:mo,store:fo,events:po,http:yo,adapter:go,memoryStore:bo,redisStore:wo,postgresStore:ko};function R(r,...e){return Object.fromEntries(e.map(t=>[t,r]))}var vo={ban:"limiter.block(key, duration), from onDecision",blockDuration:"limiter.block(key, duration), from onDecision"},So=new Map([...Zn("",vo),...Object.values(f).flatMap(r=>Object.entries(r)).flatMap(([r,{peers:e={}}])=>Zn(r,e))]);function Zn(r,e){return Object.entries(e).map(([t,n])=>[t,[r,n]])}function Qn(r,e){let[t,n]=So.get(r)??[];return n!==!0?n:typeof e=="number"?`${t}: ${Eo(e)}`:typeof e=="string"?`${t}: ${(0,Ht.inspect)(e)}`:t}function Eo(r){return Number.isInteger(r)?String(r).replace(/\B(?=(\d{3})+$)/g,"_"):(0,Ht.inspect)(r)}function k(r,e,t){for(let n of Object.keys(e)){if(t.includes(n))continue;let i=e[n];throw new u({code:"SLUICE_OPTION_UNKNOWN",option:r===""?n:`${r}.${n}`,expected:`one of the options ${t.join(", ")}`,received:i,fix:xo(n,i,t)})}}function xo(r,e,t){let n=Qn(r,e),[i=""]=/^\w+/.exec(n??"")??[];return n!==void 0&&(t.includes(i)||i==="limiter")?`Write ${n}.`:`Remove it or correct its name${Se(r,t)}.`}var nr={...f.policy,...f.concurrency},Jn=g(nr),Yt=g(nr,({onlyInPolicies:r})=>!r),er=[...Yt,...g(f.policies),...g(f.store),...g(f.events)],Bt={...f.requestPolicy,...f.http},tr=({perRoute:r})=>r!==!1,I={limiter:er,policy:Jn,onlyPolicy:Yt,http:[...er,...g(Bt)],httpPolicy:[...Jn,...g(Bt,({inPolicies:r})=>r!==void 0)],route:[...Yt,...g(f.policies),...g(f.store,tr),...g(f.events),...g(Bt,tr)],varyingLimiter:[...g(f.store).filter(r=>r!=="ban"),...g(f.events)],memoryStore:g(f.memoryStore),redisStore:g(f.redisStore),postgresStore:g(f.postgresStore)};function g(r,e=()=>!0){return Object.keys(r).filter(n=>e(r[n]))}var rr=`-- Windows of the calendar: the Lua form of calendar-window.ts, in the sections that
-- stores/redis/compose.ts documents.
-- state: a = start of the window (ms), b = units charged in it, c = end of the window (ms)
-- constants: limit (units), edges of five windows: the present one, as the process sees it, and two
--            on each side (ms)
--# constants limit edge1 edge2 edge3 edge4 edge5 edge6

--# check
if now < edge1 or now >= edge6 then
  problem = 'ERR the clocks of this process and of the server are too far apart'
end

--# enter
rebased = now < a
if now >= c or rebased then
  if now >= c then b = 0 end
  if now >= edge5 then a, c = edge5, edge6
  elseif now >= edge4 then a, c = edge4, edge5
  elseif now >= edge3 then a, c = edge3, edge4
  elseif now >= edge2 then a, c = edge2, edge3
  else a, c = edge1, edge2
  end
end

--# decide
admitted = cost <= limit - b and b < limit

--# commit
b = b + cost

--# settle
if math.min(chargedAt, now) >= a then
  b = math.min(MAX_EXACT, math.max(0, b + delta))
end

--# whole
wholeIn = b > 0 and c - now or 0
`;var Ao=2,Xt=class extends Y{algorithm=ee;scale;calendar;known=[];knownFor=Number.NaN;constructor(e){super(e),this.calendar=e.calendar,this.scale=e.calendar.name}constants(e){let{start:t}=this.calendar.at(e);return t!==this.knownFor&&(this.known=[this.units,...this.edges(e)],this.knownFor=t),this.known}enter(e,t){let n=t>=e.c;if(e.rebased=t<e.a,n||e.rebased){let{start:i,end:o}=this.calendar.at(t);n&&(e.b=0),e.a=i,e.c=o}return e.c-t}isInWindow(e,t){return t>=e.a}edges(e){let{start:t,end:n}=this.calendar.at(e),i=[t,n];for(let o=0;o<Ao;o+=1)i.unshift(this.calendar.at(i[0]-1).start),i.push(this.calendar.at(i.at(-1)).end);return i}},ee={name:"fixed-window",options:{},maxLimit:1e12,keepsLog:!1,compile:r=>new Xt(r),lua:rr};var jt=[...new Set(le.flatMap(r=>Object.keys(T[r].options)))];function ir(r){return le.filter(e=>Object.hasOwn(T[e].options,r))}function v(r,e,t,n){let i=Object.entries(r).map(([o,s])=>{let a=t[o];return a===void 0&&n!==void 0?[o,n[o]]:[o,Oo(s,Co(e,o),a)]});return Object.fromEntries(i)}function or(r,e){return k("",e,I[r]),v(f[r],"",e)}function Co(r,e){return r===""?e:`${r}.${e}`}function Oo(r,e,t){let n=t===void 0?r.default:t;if(!(n===void 0&&r.required===void 0))return r.perRequest&&typeof n=="function"?n:r.type.check(e,n)}var sr="*";function ar(r){let{algorithm:e,windowMs:t,limit:n,own:i,scale:o,policy:s}=r,a=Object.entries(i).filter(([,c])=>c!==void 0).map(([c,l])=>`,${c}=${l}`).join(""),d=`${n??sr}${n===void 0?"":a}`;return`${e}:${t}:${d}${o===""?"":`/${o}`}:${s}`}var To=`(?:${ue.join("|")}):(?:[+-]\\d\\d:\\d\\d|[^:]+):(?:\\d+|\\*)`,Mo=new RegExp(`^([a-z-]+):(\\d+):(\\d+|\\*)((?:,\\w+=\\d+)*)(?:/(\\d+(?:of\\d+)?|${To}))?:([\\x20-\\x7e]{1,128})$`);function zt(r){let e=Mo.exec(r);if(e===null)return;let[,t,n,i,o,s="",a]=e;return{algorithm:t,windowMs:Number(n),limit:i===sr?void 0:Number(i),own:Object.fromEntries([...o.matchAll(/,(\w+)=(\d+)/g)].map(([,d,c])=>[d,Number(c)])),scale:s,policy:a}}function dr({dryRun:r,windowMs:e,limit:t,quota:n}){return`${r?"dry-":""}ban:${e}:${t}:${n}`}function cr(r){let e=/^(dry-)?ban:(\d+):(\d+):(.+)$/.exec(r);if(e===null)return;let[,t,n,i,o]=e;return{dryRun:t!==void 0,windowMs:Number(n),limit:Number(i),quota:o}}var Ro=[...Object.keys(f.policy).filter(r=>r!=="name"),"cost","settle"],ac=Object.keys(f.concurrency);function ur(r,e){let t=s=>r===""?s:`${r}.${s}`,{concurrent:n,hold:i}=e;if(n===void 0){if(i!==void 0)throw lr(t("hold"),i,"Remove hold, or set concurrent.");return e}for(let s of Ro){let a=e[s];if(a!==void 0)throw lr(t(s),a,`Remove ${s}, or give it to a policy of its own.`)}let o=v(f.concurrency,r,e);return{...e,limit:o.concurrent,window:o.hold}}function lr(r,e,t){let n="either concurrent, perhaps with hold, or limit and window";return new u({code:"SLUICE_OPTION_CONFLICT",option:r,expected:n,received:e,fix:t})}var hr=16,Io=6e4,mr,Me=class{typical;unit;path;given;known=new Map;constructor(e,t){let{window:n,timeZone:i,anchor:o}=t;if(this.path=e,this.given=t,this.unit=typeof n=="string"?n:void 0,i!==void 0&&this.unit===void 0)throw this.conflict("timeZone","window: 'day', 'week' or 'month' with it",n);if(o!==void 0&&(this.unit===void 0||this.unit==="day"))throw this.conflict("anchor","window: 'week' or 'month' with it",n);this.typical=this.varies?{windowMs:Io,calendar:void 0}:this.of(void 0,void 0)}get varies(){return typeof this.given.window=="function"}of(e,t){let{given:n,unit:i}=this;if(i!==void 0){let s=typeof n.anchor=="function"?t:n.anchor,a=i==="day"?1:$n(i,this.zone,this.checkAnchor(s));return this.known.get(a)??this.add(a,qt[i],this.calendar(i,a))}let o=this.varies?this.checkLength(e):n.window;return this.known.get(o)??this.add(o,o,void 0)}get zone(){return mr??=new L("UTC"),this.given.timeZone??mr}calendar(e,t){return new V(e,this.zone,t,typeof this.given.anchor=="function")}add(e,t,n){let i={windowMs:t,calendar:n};return this.known.set(e,i),i}checkLength(e){let t=`${this.path}window`,n=f.policy.window.type.check(t,e);if(typeof n=="string")throw new u({code:"SLUICE_OPTION_VALUE",option:t,expected:"a duration, since the window depends on the request",received:e,fix:"Return a duration such as '1d', or make a limiter for each unit of the calendar."});if(this.known.size<hr||this.known.has(n))return n;throw new u({code:"SLUICE_OPTION_RANGE",option:t,expected:`at most ${hr} different lengths, because each has a quota of its own`,received:e,fix:"Choose the length by what you know of the client, such as its plan, not by what it sends."})}checkAnchor(e){if(e===void 0)return;let t=f.policy.anchor.type.check(`${this.path}anchor`,e);if(this.unit==="month"||typeof t!="number")return t;throw this.conflict("anchor","a date, whose weekday weeks begin on",e)}conflict(e,t,n){return new u({code:"SLUICE_OPTION_CONFLICT",option:this.path+e,expected:t,received:n,fix:`Remove ${e}, or set what it belongs to.`})}};var Lo=1e15,Po=1e3,pe=class{name;compiledLimit;limitOption;algorithm;unit;params;path;window;values;tiers=new Map;configured=new WeakMap;shares=new WeakMap;constructor(e,t){let n=ur(e,t),i=n!==t;this.values=v(f.policy,e,n);let{name:o,limit:s,algorithm:a,unit:d,burst:c,maxDelay:l,anchor:h}=this.values;this.path=e,this.name=o,this.limitOption=i?"concurrent":"limit",this.window=new Me(e===""?"":`${e}.`,this.values);let m=this.window.unit===void 0?a:"fixed-window";this.algorithm=i?$:T[m],this.unit=i?"concurrent-requests":d,this.checkAlgorithm(t);let p=typeof s=="function";this.params={burst:c,maxDelayMs:l,oneOfSeveral:p};let y=p||typeof h=="function"||this.window.varies;this.compiledLimit=y?void 0:this.compile(s,this.window.typical)}get windowMs(){return this.window.typical.windowMs}get windowVaries(){return this.window.varies}get holdsSlots(){return this.algorithm.holdsSlots===!0}get limit(){let{limit:e}=this.values;return typeof e=="number"?e:void 0}get typicalLimit(){return this.typicalFor(void 0,void 0)}typicalFor(e,t){let n=this.limit??e??this.params.burst??1,{typical:i,varies:o}=this.window,s=o&&t!==void 0?this.window.of(t,void 0):i;return this.compiledLimit??this.tier(n,s)}limitFor(e,t,n){return this.tier(this.limit??e,this.window.of(n,t))}shareOf(e,t){let n=this.shares.get(e);if(n!==void 0)return n;let{burst:i}=this.params,o=this.configured.get(e),s=this.limitOf({...this.params,...o,limit:fr(o.limit,t),burst:i===void 0?void 0:fr(i,t)});return this.shares.set(e,s),s}assertStatic(){let e=Object.entries(this.values).find(([,i])=>typeof i=="function");if(e===void 0)return;let[t,n]=e;throw new u({code:"SLUICE_OPTION_TYPE",option:this.at(t==="limit"?this.limitOption:t),expected:"the same value for every request",received:n,fix:"Create a limiter for each value: only adapters have a request to call the function with."})}space(e){let{algorithm:t,name:n,own:i}=this,{windowMs:o}=this.configured.get(e),{scale:s}=e;return ar({algorithm:t.name,windowMs:o,limit:this.limit,own:i,scale:s,policy:n})}get own(){let{values:e,algorithm:t,limit:n}=this,i=jt.map(o=>{let s=t.options[o]==="limit"?n:t.options[o];return[o,e[o]===s?void 0:e[o]]});return Object.fromEntries(i)}tier(e,t){let n=this.tiers.get(t)??new Map,i=n.get(e);if(i!==void 0)return i;let o=this.compile(e,t);return n.size===Po&&n.clear(),n.set(e,o),this.tiers.set(t,n),o}compile(e,t){let{maxLimit:n}=this.algorithm,i=f.policy.limit.type.check(this.at(this.limitOption),e,n),o={...t,limit:i};i>0&&this.checkProportions(o);let s=this.limitOf({...this.params,...o});return this.configured.set(s,o),s}limitOf(e){return(e.calendar===void 0?this.algorithm:ee).compile(e.limit===0?{...e,burst:0}:e)}checkProportions({limit:e,windowMs:t}){let{burst:n,maxDelayMs:i}=this.params;if((n??0)/e*t>Lo)throw new u({code:"SLUICE_OPTION_RANGE",option:this.at("burst"),expected:"a burst that refills within 10^15 ms",received:n,fix:"Lower burst, or raise limit."});if((i??0)/t*e>=1e12)throw new u({code:"SLUICE_OPTION_RANGE",option:this.at("maxDelay"),expected:`a delay in which fewer than ${1e12} units drain`,received:i,fix:"Lower maxDelay, or limit."})}at(e){return this.path===""?e:`${this.path}.${e}`}checkAlgorithm(e){if(e.algorithm!==void 0&&e.algorithm!==this.algorithm.name)throw new u({code:"SLUICE_OPTION_CONFLICT",option:this.at("algorithm"),expected:"'fixed-window', which windows of the calendar are",received:e.algorithm,fix:"Remove algorithm, or write the window as a duration such as '1d'."});for(let t of jt){if(e[t]===void 0)continue;let n=ir(t);if(!n.some(i=>i===this.algorithm.name))throw new u({code:"SLUICE_OPTION_CONFLICT",option:this.at(t),expected:`algorithm: '${n[0]}' with it`,received:this.algorithm.name,fix:`Remove ${this.at(t)}, or choose algorithm: '${n[0]}'.`})}}};function fr(r,e){return r===0?0:Math.max(1,Math.floor(r*e))}function pr(r,e){let{policies:t}=r;if(t===void 0)return[new pe("",{...r,name:void 0})];let n=I.onlyPolicy.find(o=>r[o]!==void 0);if(n!==void 0)throw new u({code:"SLUICE_OPTION_CONFLICT",option:n,expected:"either policies, or the options of a single one",received:r[n],fix:`Move ${n} into an entry of policies.`});if(!Array.isArray(t)||t.length===0||t.length>32)throw new u({code:"SLUICE_OPTION_TYPE",option:"policies",expected:"an array of 1 to 32 policies",received:t,fix:"Write policies: [{ name: 'burst', limit: 10, window: '1s' }]."});let i=t.map((o,s)=>{let a=`policies[${s}]`;return k(a,E(a,o,"a policy"),e),new pe(a,o)});return _o(i),i}function _o(r){let e=new Set;for(let[t,{name:n}]of r.entries()){if(!e.has(n.toLowerCase())){e.add(n.toLowerCase());continue}throw new u({code:"SLUICE_OPTION_CONFLICT",option:`policies[${t}].name`,expected:"a name of its own for each policy, whatever the case",received:n,fix:"Give each policy a different name, such as burst and daily."})}}var N=require("node:diagnostics_channel"),Re=(0,N.channel)("sluice:decision"),D=(0,N.channel)("sluice:settle"),Vt=(0,N.channel)("sluice:store"),Ie=(0,N.channel)("sluice:ban"),ye=(0,N.tracingChannel)("sluice:consume"),Le=(0,N.tracingChannel)("sluice:wait");function S(r){return typeof r!="object"&&typeof r!="function"?!1:typeof r?.then=="function"}function W(r,e){return S(r)?Promise.resolve(r).then(e):e(r)}var yr=require("node:util");function te(r){try{return String(r)}catch{}try{return(0,yr.inspect)(r,{depth:0,breakLength:1/0,customInspect:!1})}catch{return`an ${typeof r} that has no text`}}function Pe(r){if(!(r instanceof Error))return"Error";let{code:e}=r;return typeof e=="string"&&e!==""?e:r.name}var _e=class extends Error{name="StoreError";code;operation;constructor({code:e,operation:t,problem:n,advice:i,cause:o}){let s=o===void 0?"":`: ${No(o)}`;super(`${t}: ${n}${s}. ${i} ${H(e)}`,o===void 0?{}:{cause:o}),this.code=e,this.operation=t}};function No(r){return(r instanceof Error?r.message:te(r)).replace(/\.$/,"")}var Ne=class{remote;healthOf;size;open=new Map;constructor(e,t){this.remote=e,this.healthOf=t,this.size=e.consumeAll===void 0?1:128}add(e){let t=this.remote.part===void 0?"":gr(e),n=this.open.get(t)??this.start(t);n.asked.push(e)<this.size||(this.open.delete(t),this.send(n))}start(e){this.open.size===0&&setImmediate(()=>this.sendAll());let t=new Zt(this.remote);return this.open.set(e,t),t}sendAll(){let{open:e}=this;this.open=new Map;for(let t of e.values())this.send(t)}send(e){let t=this.healthOf(gr(e.asked[0]));t.isTrusted?t.send(e):e.failed()}},Zt=class{asked=[];remote;constructor(e){this.remote=e}ask(){let{remote:e,asked:t}=this,n=t.length===1?t[0].requests:t.flatMap(i=>i.requests);return e.consumeAll?.(n)??Promise.all(n.map(i=>e.consume(i)))}answered(e){this.handOut(e,(t,n)=>{br(n)?t.decided(n):t.failed()})}failed(){for(let e of this.asked)e.failed()}late(e){this.handOut(e,(t,n)=>{br(n)&&t.late?.(n)})}handOut(e,t){if(this.asked.length===1){t(this.asked[0],e);return}let n=0;for(let i of this.asked){let o=n+i.requests.length;t(i,e.slice(n,o)),n=o}}};function gr({requests:r}){let[[e]]=r;return e.key}function br(r){return r.every(e=>!(e instanceof Error))}var Ue=class{part;remote;openLocal;healthOf;failureMode;batches;constructor(e,t,n,i){this.part=e.part,this.remote=e,this.openLocal=t,this.healthOf=n,this.failureMode=i,this.batches=new Ne(e,n)}consume(e){let t=this.health(e);if(!t.isTrusted){let n=this.standIn(e);return this.probeWith(t,e,n.admitted),Promise.resolve(n)}return new Promise((n,i)=>{let o=wr(n,i);this.batches.add({requests:[e],decided:([s])=>o(()=>this.learnt(e,s)),failed:()=>o(()=>this.standIn(e))})})}attempt(e){let t=this.health(e);if(!t.isTrusted){let n=this.attemptHere(e),i=o=>{n.conclude(o),this.probeWith(t,e,o)};return Promise.resolve({...n,conclude:i})}return new Promise((n,i)=>{let o=wr(n,i),s=new Qt(a=>this.giveBack(t,e,a));this.batches.add({requests:[e.map(De),e],decided:([a,d])=>o(()=>this.attemptOf(t,e,a,d)),failed:()=>o(()=>s.after(this.attemptHere(e))),late:([,a])=>s.come(a)})})}async peek(e){let t=this.health(e);return t.isTrusted?t.call(()=>this.remote.peek(e)).catch(()=>this.standIn(e,"peek")):this.standIn(e,"peek")}async settle(e,t,n="store"){if(this.local?.settle(this.localCharges(e),t),n!=="store")return;let i=this.health(e);if(!i.isTrusted)throw vr("settle",i.failure);await this.tell("settle",i,()=>this.remote.settle(e,t))}async renew(e){this.local?.renew?.(e.map(o=>this.localCharges(o)));let t=e[0],n=this.health(t),i=async()=>this.remote.renew?.(e);n.isTrusted?await n.call(i):n.probe(()=>this.askWhetherItWorks(t.map(De)).then(i))}async block(e,t){this.local?.block(e,t);let n=this.healthOf(e[0]);await this.tell("block",n,()=>this.remote.block(e,t))}async reset(e){this.local?.reset(e);let t=this.healthOf(e[0]);await this.tell("reset",t,()=>this.remote.reset(e))}isTrusted(e){return this.health(e).isTrusted}get local(){return this.failureMode.onStoreError==="local"?this.openLocal():void 0}health(e){return this.healthOf(e[0].key)}probeWith(e,t,n){let i=t.map(o=>n&&o.slot===void 0?o:De(o));e.probe(()=>this.askWhetherItWorks(i))}askWhetherItWorks(e){return this.remote.probe?.(e)??this.remote.settle(e)}attemptOf(e,t,{outcomes:n},i){return{result:i,uncharged:n,conclude:s=>{s?this.learnt(t,i):i.admitted&&this.giveBack(e,t,i)}}}attemptHere(e){let{outcomes:t}=this.standIn(e.map(De),"peek"),n=this.standIn(e);return{result:n,uncharged:t,conclude:o=>{n.source!=="local"||!n.admitted||o||this.local?.settle(this.localCharges(kr(e)),n.at)}}}giveBack(e,t,{at:n}){e.call(()=>this.remote.settle(kr(t),n)).catch(()=>{})}learnt(e,t){return t.admitted&&this.local?.settle(this.localCharges(e)),t}standIn(e,t="consume"){let{local:n}=this;if(n===void 0){let{onStoreError:a}=this.failureMode;return{admitted:a==="allow",at:Date.now(),source:a,outcomes:[]}}let{admitted:i,at:o,outcomes:s}=n[t](this.localCharges(e));return{admitted:i,at:o,source:"local",outcomes:s.map(a=>({...a}))}}localCharges(e){return this.failureMode.localShare===1?e:e.map((t,n)=>({...t,limit:this.failureMode.localLimit(n,t.limit)}))}async tell(e,t,n){try{await t.call(n)}catch(i){throw vr(e,i)}}},Qt=class{giveBack;grant;isRefused=!1;constructor(e){this.giveBack=e}after({result:e,uncharged:t,conclude:n}){return{result:e,uncharged:t,conclude:i=>{n(i),this.isRefused=!i,this.check()}}}come(e){e.admitted&&(this.grant=e),this.check()}check(){this.isRefused&&this.grant!==void 0&&this.giveBack(this.grant)}};function wr(r,e){return t=>{try{r(t())}catch(n){e(n)}}}function De({key:r,limit:e}){return{key:r,limit:e,cost:0}}function kr(r){return r.map(e=>({...e,cost:-e.cost}))}function vr(r,e){return new _e({code:"SLUICE_STORE_UNAVAILABLE",operation:r,problem:"the store did not confirm it",advice:"It holds in this process alone: repeat it when the store is back.",cause:e})}var Ke=class{shared;keyspaces;wanted;constructor(e,t,n){this.shared=e,this.keyspaces=t,this.wanted=n}find(e,t){if(this.shared.isEmpty)return;let n=this.shared.clock(),i=this.bannedKey(e,n,t),o=[];for(let s=0;s<e.length;s+=1){let{key:a,limit:d,cost:c,slot:l}=e[s];if(c>1||l!==void 0||!this.isOn(this.keyspaces[s]))return;let h=this.known(e,s,n,t),m=a===i||d.countsRefusals;if(h===void 0&&!m)return;o.push(h)}return Ko(o,n)}bannedKey(e,t,n){let i=e.length-1,{key:o,limit:s}=e[i];if(s.countsRefusals)return this.known(e,i,t,n)&&o}known(e,t,n,i){let{key:o,limit:s}=e[t],a=this.shared.get(this.keyspaces[t],o);if(!(a===void 0||!$o(s,a.limit))&&!(n>=a.until||n>=a.askAgainAt&&i()))return a}listen(){let e=this.shared.clock(),t=this.ends();return(n,i)=>{i.origins!==void 0&&this.settles();let o=t===this.ends();for(let s=0;s<i.outcomes.length;s+=1){let{key:a,limit:d,cost:c,slot:l}=n[s],{at:h,source:m}=i.origins?.[s]??i,p=this.keyspaces[s],y=i.outcomes[s];m!=="store"||l!==void 0||(y.admitted||y.remaining>0?this.shared.isEmpty||this.shared.delete(p,a):c<=1&&o&&this.isOn(p)&&y.retryAfterMs!==1/0&&this.shared.set(p,a,Do(d,y,h,e,this.shared.clock())))}}}async ending(e,t){this.end(e);try{await t()}finally{this.end(e)}}settles(){for(let e of this.keyspaces)e.settles=!0}end(e){for(let t=0;t<e.length;t+=1){let n=this.keyspaces[t];n.ends+=1,this.shared.delete(n,e[t])}}isOn({settles:e}){return this.wanted??!e}ends(){let e=0;for(let t=0;t<this.keyspaces.length;t+=1)e+=this.keyspaces[t].ends;return e}};function Do(r,{retryAfterMs:e,resetMs:t},n,i,o){let s=i+e,a=Math.min(s,i+1e4);return{limit:r,until:s,askAgainAt:a,receivedAt:o,at:n,retryAfterMs:e,resetMs:t}}var Uo={admitted:!0,remaining:0,resetMs:0,retryAfterMs:0,effectiveMs:0,delayMs:0};function Ko(r,e){let t=0,n=r.map(i=>{if(i===void 0)return Uo;let{receivedAt:o,at:s,retryAfterMs:a,resetMs:d}=i,c=Math.floor(e-o);return t=Math.max(t,s+c),{admitted:!1,remaining:0,resetMs:Math.max(0,d-c),retryAfterMs:a-c,effectiveMs:a-c,delayMs:0}});return{admitted:!1,at:t,source:"cache",outcomes:n}}function $o(r,e){if(r===e)return!0;let t=Date.now(),n=e.constants(t),i=r.constants(t);return i.length===n.length&&i.every((o,s)=>o===n[s])}function $e(r){let e=E("options",r??{},"the options of inspect");k("",e,["prefix","policy","key"]);let{prefix:t}=v(f.store,"",{prefix:e.prefix}),{policy:n,key:i}=e;return Sr("policy",n),Sr("key",i),{prefix:t,key:i,wants:o=>n===void 0||o.policy===n,isIn:o=>o===t||/^(\.[\da-f]{8})+$/.test(qo(o,t))}}function qo(r,e){return r.startsWith(e)?r.slice(e.length):""}function Sr(r,e){if(!(e===void 0||typeof e=="string"&&e!==""))throw new u({code:"SLUICE_OPTION_TYPE",option:r,expected:"text of at least one character",received:e,fix:`Leave ${r} out to list all.`})}var Tr=require("node:timers/promises");var Er=require("node:crypto"),Wo=44,Fo=256;function Jt(r){return`#${(0,Er.createHash)("sha256").update(r,"utf16le").digest("base64url")}`}function F(r){let e=r.length===Wo&&r.startsWith("#");return r.length>Fo||e?Jt(r):r}var Go=13;function qe(r){if(r.length<Go)return r;let e=r.slice(0,1)+r.slice(1);return e.charCodeAt(0),e}var xr=[...Object.values(T),ee,$,O];function We(r){try{return Ho(r)??Bo(r)}catch{return}}function Ho(r){let e=cr(r),t=e&&zt(e.quota);if(e===void 0||t===void 0)return;let{windowMs:n,limit:i,dryRun:o}=e;if(!(n<1||i<1||i>ce))return{name:r,algorithm:O,policy:t.policy,windowMs:n,dryRun:o,limit:O.compile({limit:i,windowMs:n,bansMs:[Z]}),tells:"everything"}}function Bo(r){let e=zt(r),t=e&&Yo(e);if(e===void 0||t===void 0)return;let{windowMs:n,policy:i,limit:o}=e;if(n<1||n>Z||(o??0)>t.maxLimit)return;let s=Xo(t,e);return{name:r,algorithm:t,policy:i,windowMs:n,dryRun:!1,limit:s,tells:jo(s,e)}}function Yo({algorithm:r,scale:e}){return/[a-z]+:/.test(e)?ee:r===$.name?$:Object.values(T).find(({name:t})=>t===r)}function Xo(r,{windowMs:e,limit:t,scale:n,own:i}){let o=Math.min(r.maxLimit,Math.floor(w/e));return r.compile({limit:t??o,windowMs:e,burst:t===0?0:i.burst,maxDelayMs:i.maxDelay,calendar:Ar(n)})}function jo(r,{limit:e,scale:t}){return e!==void 0?r.scale===t?"everything":"blocks":t===""||Ar(t)!==void 0?"use":"blocks"}function Ar(r){let[,e,t,n]=/^([a-z]+):(.+):(\d+|\*)$/.exec(r)??[];if(t===void 0)return;let i=n==="*"?1:Number(n);return new V(e,new L(t),i,n==="*")}function Fe(r,e,t){let{prefix:n,key:i,isDigest:o,keyspace:s}=r,{name:a,algorithm:d,policy:c,windowMs:l,dryRun:h,limit:m,tells:p}=s,y=Math.max(0,e.blockedUntil-t),K=y>0,At=m.countsRefusals===!0&&!e.admitted&&!K;return{prefix:n,keyspace:{name:a,algorithm:d},policy:c,windowMs:l,dryRun:h,key:i,isDigest:o,at:t,limit:p==="everything"?m.units:void 0,used:p==="blocks"||K?void 0:zo(m,t)-e.remaining,remaining:p==="everything"?e.remaining:void 0,resetMs:p==="blocks"&&!K?void 0:e.resetMs,blockedMs:y,bannedMs:At?e.retryAfterMs:0}}function zo(r,e){let t=new b;return r.decide(t,e,0),t.remaining}function ge(r,{limit:e},t,n){let i=r.blockedUntil-t;if(i>0){Qo(r,i);return}r.blockedUntil=0,e.decide(r,t,n)}function en(r,{limit:e,slot:t},n,i){return e.countsRefusals?r.counted||r.rebased:i===0&&!r.rebased?!1:(e.commit(r,n,i,t),!0)}function be(r,e,t){let n=!0;for(let i=0;i<e.length;i+=1){let o=e[i],s=r[i];ge(s,o,t,o.cost),s.admitted||(n=!1)}return!n&&e.length>1&&(Zo(r,e,t),Vo(r,e,t)),n}function Vo(r,e,t){for(let n=0;n<e.length;n+=1){let{key:i,limit:o,cost:s}=e[n],a=r[n];if(!o.countsRefusals||!a.admitted)continue;r.some((c,l)=>!c.admitted&&e[l]?.key===i)&&o.commit(a,t,s)}}function Zo(r,e,t){for(let n=0;n<e.length;n+=1){let i=r[n];if(!i.admitted)continue;let{rebased:o}=i;e[n]?.limit.decide(i,t,0),i.rebased=o}}function Cr(r,{limit:e,cost:t,slot:n},i,o){return r.blockedUntil>i?"nothing":(r.blockedUntil=0,e.settle(r,i,t,o,n),r.resetMs===0?"delete":"keep")}function Qo(r,e){r.admitted=!1,r.rebased=!1,r.counted=!1,r.remaining=0,r.resetMs=e,r.retryAfterMs=e,r.effectiveMs=e,r.delayMs=0}var we=class{spare=0;dueAt=1/0;pages=[];free=-1;next=0;hand=0;constructor(){this.claim(void 0)}claim(e){let t=this.free<0?this.next++:this.free;t===this.pages.length*4096&&this.pages.push(new tn(t===0?2:4096));let n=this.page(t);(t&4095)===n.capacity&&n.grow();let{keys:i,states:o}=n;if(i[t&4095]=e,t===this.free){let s=(t&4095)*4;this.free=o[s],o[s]=0}return t}release(e){this.clear(e);let{keys:t,states:n}=this.page(e);t[e&4095]=void 0,n[(e&4095)*4]=this.free,this.free=e}key(e){return this.page(e).keys[e&4095]}get end(){return this.next}load(e,t){let{states:n,logs:i}=this.page(e),o=(e&4095)*4;t.a=n[o],t.b=n[o+1],t.c=n[o+2],t.log=i===void 0?void 0:i[e&4095],t.blockedUntil=-n[o+3]}save(e,t,n,i){let o=this.page(e),{states:s}=o,a=(e&4095)*4,d=n+t.resetMs;s[a]=t.a,s[a+1]=t.b,s[a+2]=t.c,s[a+3]=d,d<o.dueAt&&this.due(o,d),o.usages[e&4095]!==i&&this.setUsage(e,i),t.log!==void 0&&(o.logs??=[],o.logs[e&4095]=t.log)}block(e,t){this.clear(e);let n=this.page(e);n.states[(e&4095)*4+3]=-t,t<n.dueAt&&this.due(n,t)}usage(e){return this.page(e).usages[e&4095]}setUsage(e,t){let n=this.page(e),i=this.usage(e);n.usages[e&4095]=e===0?255:t;let o=+(i===255)-+(this.usage(e)===255);n.spare+=o,this.spare+=o}expired(e,t){let n=[],i=this.nextPage(o=>o.dueAt<=e);return i===void 0?this.dueAt=Math.min(...this.pages.map(({dueAt:o})=>o)):i.dueAt=i.expired(e,t,this.hand*4096,n),n}best(){let e=this.spare>0?this.nextPage(({spare:t})=>t>0):void 0;return e===void 0?-1:this.hand*4096+e.best()}soonest(){let e=this.nextPage(({keys:t})=>t.some(n=>n!==void 0));return e===void 0?-1:this.hand*4096+e.soonest()}page(e){return this.pages[e>>12]}due(e,t){e.dueAt=t,t<this.dueAt&&(this.dueAt=t)}clear(e){let{states:t,logs:n}=this.page(e),i=(e&4095)*4;t.fill(0,i,i+4),n!==void 0&&(n[e&4095]=void 0),this.setUsage(e,255)}nextPage(e){for(let t=0;t<this.pages.length;t+=1){this.hand=(this.hand+1)%this.pages.length;let n=this.pages[this.hand];if(e(n))return n}}},tn=class{keys=[];states;logs;usages;spare=0;dueAt=1/0;constructor(e){this.states=new Float64Array(e*4),this.usages=new Uint8Array(e).fill(255)}get capacity(){return this.usages.length}grow(){let{states:e,usages:t}=this;this.states=new Float64Array(e.length*2),this.states.set(e),this.usages=new Uint8Array(t.length*2).fill(255),this.usages.set(t)}best(){let{usages:e}=this,t=0;for(let n=1;n<this.keys.length;n+=1)e[n]<e[t]&&(t=n);return t}expired(e,t,n,i){let o=1/0;for(let s=0;s<this.keys.length;s+=1){let a=this.freeAt(s);if(!(a>=o||this.keys[s]===void 0))if(a>e)o=a;else{if(i.length===t)return e;i.push(n+s)}}return o}soonest(){let e=-1;for(let t=0;t<this.keys.length;t+=1)this.keys[t]!==void 0&&(e<0||this.freeAt(t)<this.freeAt(e))&&(e=t);return e}freeAt(e){return Math.abs(this.states[e*4+3])}};var Mr=1e3;async function*Rr(r,e,t){for(let{prefix:n,name:i,table:o}of r){let s=t.isIn(n)?We(i):void 0;if(s===void 0||!t.wants(s))continue;let{key:a}=t;if(a!==void 0){let d=o.find(a),c={prefix:n,keyspace:s,key:a,isDigest:!1};d>=0&&(yield Ir(o.slots,d,c,e()));continue}for(let d=1;d<o.slots.end;d+=Mr)yield*Jo(o.slots,d,{prefix:n,keyspace:s},e()),await(0,Tr.setImmediate)()}}function Jo(r,e,t,n){let i=[];for(let o=e;o<Math.min(e+Mr,r.end);o+=1){let s=r.key(o);if(s===void 0)continue;let a={...t,key:s,isDigest:F(s)!==s};i.push(Ir(r,o,a,n))}return i}function Ir(r,e,t,n){let{key:i,keyspace:o}=t,s=new b;return r.load(e,s),ge(s,{key:i,limit:o.limit,cost:0},n,0),Fe(t,s,n)}function Ge(r){return r.map(e=>({...e,cost:e.slot===void 0?0:-1}))}function Lr(r){return r.map(e=>({...e,cost:e.slot===void 0?0:1}))}function Pr({slot:r}){return r!==void 0}var He=class{store;tables;states;slots;result;scaledFor;scales;unused=new b;constructor(e,t){this.store=e,this.tables=t,this.states=t.map(()=>new b),this.slots=t.map(()=>-1),this.scaledFor=t.map(()=>{}),this.scales=t.map(()=>0),this.result={admitted:!1,at:0,source:"store",outcomes:this.states}}consume(e){if(e.length===1)return this.consumeOne(e);let t=this.store.clock();this.find(e)>0&&this.makeRoom(e,t);let n=this.decide(e,t);for(let i=0;i<e.length;i+=1){let o=e[i],s=this.states[i];en(s,o,t,n.admitted?o.cost:0)?this.write(i,this.slots[i],o,t):!s.admitted&&this.slots[i]>=0&&this.tables[i]?.slots.setUsage(this.slots[i],255)}return n}consumeOne(e){let t=this.store.clock(),n=e[0],{result:i}=this,o=this.tables[0],s=this.states[0],a=o.find(n.key);a<0&&(this.makeRoom(e,t),a=this.slots[0]),a<0?nn(s):o.slots.load(a,s),ge(s,n,t,n.cost);let{admitted:d}=s;return i.admitted=d,i.at=t,en(s,n,t,d?n.cost:0)?this.write(0,a,n,t):!d&&a>=0&&o.slots.setUsage(a,255),i}peek(e){return this.find(e),this.decide(e,this.store.clock())}settle(e,t){let n=this.store.clock();this.find(e)>0&&e.some(({cost:o})=>o>0)&&this.makeRoom(e,n);for(let o=0;o<e.length;o+=1){let s=e[o],a=Cr(this.load(o),s,n,t??n);a==="delete"?this.tables[o]?.delete(s.key):a==="keep"&&this.write(o,this.slots[o],s,n)}}renew(e){for(let t of e)this.settle(Lr(t))}block(e,t){let n=this.store.clock(),i=e.map(o=>({key:o}));this.find(i)>0&&this.makeRoom(i,n);for(let o=0;o<e.length;o+=1){let s=this.tables[o],a=e[o];this.slots[o]===0&&this.store.displace(s);let d=s.find(a);s.slots.block(d<0?s.add(a):d,n+t),this.store.kept(s,n)}}reset(e){for(let t=0;t<e.length;t+=1)this.tables[t]?.delete(e[t])}find(e){let t=0;for(let n=0;n<e.length;n+=1){let i=this.tables[n].find(e[n].key);this.slots[n]=i,i<0&&Nr(e[n])&&(t+=1)}return t}makeRoom(e,t){let{store:n,slots:i}=this,o=n.maxKeys-n.size;for(;this.find(e)>o&&n.makeRoom(t);)o=n.maxKeys-n.size;for(let s=0;s<e.length;s+=1)i[s]===-1&&Nr(e[s])&&--o<0&&(i[s]=0)}decide(e,t){for(let n=0;n<e.length;n+=1)this.load(n);return this.result.admitted=be(this.states,e,t),this.result.at=t,this.result}load(e){let t=this.slots[e],n=this.states[e];return t<0?nn(n):this.tables[e]?.slots.load(t,n),n}write(e,t,{key:n,limit:i},o){let{store:s}=this;if(t<0&&i.countsRefusals&&s.size>=s.maxKeys&&!s.makeRoom(o))return;let d=this.tables[e],c=this.states[e],l=t<0?d.add(n):t;d.slots.save(l,c,o,this.usage(e,c,i,o)),this.store.kept(d,o)}usage(e,{remaining:t},n,i){if(t<1||n.algorithm.holdsSlots===!0)return 255;if(this.scaledFor[e]!==n){let{unused:o}=this;nn(o),n.decide(o,i,0),this.scaledFor[e]=n,this.scales[e]=254/o.remaining}return 254-(t*this.scales[e]|0)}};function Nr({limit:r}){return r?.countsRefusals!==!0}function nn(r){r.a=r.b=r.c=0,r.log=void 0,r.blockedUntil=0}var Dr=require("node:async_hooks"),Ye=require("node:timers"),es=1,ts=5,ns=1e3,rs=2**31-1,is=new FinalizationRegistry(r=>r.cancel()),os=new Dr.AsyncResource("SluiceSweep"),Be=class{nextAt=1/0;tables;clock;self=new WeakRef(this);alarm={cancel(){}};setAt=0;closed=!1;constructor(e,t){this.tables=e,this.clock=t,is.register(this,this.alarm)}expect(e,t){let n=Math.max(e,t+ns);n<this.nextAt&&!this.closed&&this.set(t,n-t)}close(){this.closed=!0,this.alarm.cancel(),this.nextAt=1/0}sweep(){let e=this.clock();this.nextAt=1/0,this.freeSlice(e)?this.set(e,ts):e!==this.setAt&&this.expect(this.dueAt(),e)}freeSlice(e){let t=performance.now()+es;for(let n of this.tables)for(;n.isDue(e);)if(n.sweep(e),performance.now()>=t)return this.dueAt()<=e;return!1}dueAt(){return this.tables.reduce((e,{slots:t})=>Math.min(e,t.dueAt),1/0)}set(e,t){let n=Math.min(t,rs);this.alarm.cancel(),this.alarm.cancel=ss(this.self,n),this.setAt=e,this.nextAt=e+n}};function ss(r,e){return os.runInAsyncScope(()=>{let t=(0,Ye.setTimeout)(()=>r.deref()?.sweep(),e).unref();return()=>(0,Ye.clearTimeout)(t)})}var rn=require("node:crypto");function Ur(r=(0,rn.randomInt)(2**32),e=(0,rn.randomInt)(2**32)){let t=r|0,n=e|0;return i=>{let o=t,s=n,a=t^1819895653,d=n^1952801890,{length:c}=i,l=1;for(;l<c;l+=2){let p=i.charCodeAt(l-1)|i.charCodeAt(l)<<16;d^=p,o=o+s|0,s=(s<<5|s>>>27)^o,o=o<<16|o>>>16,a=a+d|0,d=(d<<8|d>>>24)^a,o=o+d|0,d=(d<<7|d>>>25)^o,a=a+s|0,s=(s<<13|s>>>19)^a,a=a<<16|a>>>16,o^=p}let h=c<<25|(l===c?i.charCodeAt(l-1):0),m=255;for(let p=0;p<4;p+=1)d^=h,o=o+s|0,s=(s<<5|s>>>27)^o,o=o<<16|o>>>16,a=a+d|0,d=(d<<8|d>>>24)^a,o=o+d|0,d=(d<<7|d>>>25)^o,a=a+s|0,s=(s<<13|s>>>19)^a,a=a<<16|a>>>16,o^=h,a^=m,h=m=0;return s^d}}var as=4096,ds=8,Kr=512,Xe=class{slots;hash;shards;shift;strays=new Map;constructor(e,t,n=Ur()){let i=Math.max(0,Math.ceil(Math.log2(e/as)));this.slots=t,this.hash=n,this.shards=new Array(2**i).fill(void 0),this.shift=31-i}find(e){let t=this.hash(e),n=this.shards[this.shardOf(t)];if(n===void 0)return-1;let i=this.search(n.places,e,t);return i>=0?n.places[i+1]-1:this.strays.size===0?-1:this.strays.get(e)??-1}add(e,t){let n=this.hash(e),i=this.shardOf(n),o=this.shards[i];o===void 0&&(o={places:new Int32Array(2*ds),size:0},this.shards[i]=o),8*(o.size+1)>3*o.places.length&&this.grow(o),this.insert(o,n,t)}delete(e){if(this.strays.size>0&&this.strays.delete(e))return;let t=this.hash(e),n=this.shards[this.shardOf(t)];n.size-=1,cs(n.places,this.search(n.places,e,t))}search(e,t,n){let i=e.length-1,o=n<<1&i;for(let s=0;s<Kr;s+=1){let a=e[o+1];if(a===0)return-1;if(e[o]===n&&this.slots.key(a-1)===t)return o;o=o+2&i}return-1}insert(e,t,n){let{places:i}=e,o=i.length-1,s=t<<1&o;for(let a=0;a<Kr;a+=1){if(i[s+1]===0){i[s]=t,i[s+1]=n+1,e.size+=1;return}s=s+2&o}this.strays.set(this.slots.key(n),n)}grow(e){let{places:t}=e;e.places=new Int32Array(t.length*2),e.size=0;for(let n=0;n<t.length;n+=2){let i=t[n+1];i!==0&&this.insert(e,t[n],i-1)}}shardOf(e){return e>>>1>>>this.shift}};function cs(r,e){let t=r.length-1;for(let n=e+2&t;r[n+1]!==0;n=n+2&t){let i=r[n]<<1&t;(n-i&t)<(n-e&t)||(r[e]=r[n],r[e+1]=r[n+1],e=n)}r[e+1]=0}var ls=16384,us=16,hs=10,ke=class{maxKeys;slots;few=new Map;many;moving;constructor(e,t){this.maxKeys=e,this.slots=t}find(e){let t=this.few===void 0?void 0:this.few.get(e);return t!==void 0?t:this.many===void 0?-1:this.many.find(e)}add(e,t){let{few:n}=this;if(n===void 0||this.moving!==void 0||ms(e)){this.many??=new Xe(this.maxKeys,this.slots),this.many.add(e,t),n!==void 0&&this.moving!==void 0&&this.moveSome(n,this.moving);return}n.set(e,t),n.size===ls&&(this.moving=n.entries())}delete(e){this.few?.delete(e)!==!0&&this.many?.delete(e)}moveSome(e,t){for(let n=0;n<us;n+=1){let i=t.next();if(i.done){this.few=void 0,this.moving=void 0;return}let[o,s]=i.value;e.delete(o),this.many?.add(o,s)}}};function ms(r){if(r.length>hs)return!1;for(let e=0;e<r.length;e+=1){let t=r.charCodeAt(e);if(t<48||t>57)return!1}return!0}var fs=256,je=class{size=0;slots=new we;maxKeys;index;constructor(e){this.maxKeys=e,this.index=new ke(e,this.slots)}find(e){return this.index.find(F(e))}add(e){let t=qe(F(e)),n=this.slots.claim(t);return this.index.add(t,n),this.size+=1,n}delete(e){let t=this.find(e);t>=0&&this.free(t)}free(e){this.index.delete(this.slots.key(e)),this.slots.release(e),this.size-=1}clear(){this.size=0,this.slots=new we,this.index=new ke(this.maxKeys,this.slots)}isDue(e){return this.slots.dueAt<=e}sweep(e){let t=this.slots.expired(e,fs);for(let n of t)this.free(n);return t.length}};var ze=require("node:timers"),ps=16;function $r(){let r=-1,e=-1,t=0,n,i=!1,o=()=>{r=-1};return()=>{if(r>=0&&n===Date.now)return r;let s=Date.now();return t=s===e?t+1:1,e=s,t<ps||(t=0,n!==Date.now&&(n=Date.now,i=ys(Date.now)),r=i&&gs(o)?s:-1),s}}function ys(r){return Function.prototype.toString.call(r).includes("[native code]")}function gs(r){let e=(0,ze.setImmediate)(r).unref();return e.constructor.name==="Immediate"?!0:((0,ze.clearImmediate)(e),!1)}var bs=4,ws=4;function Ve(r={}){return new on(r)}var on=class{mode="sync";maxKeys;clock;tables=[];keyspaces=new Map;sweeper;hand=0;constructor(e){let t=E("options",e,"the options of a store");k("",t,I.memoryStore);let{maxKeys:n,clock:i=$r()}=v(f.memoryStore,"",t);this.maxKeys=n,this.clock=i,this.sweeper=new Be(this.tables,this.clock)}get size(){let e=0;for(let t=0;t<this.tables.length;t+=1)e+=this.tables[t].size;return e}open(e,t){if(e.length>this.maxKeys)throw new u({code:"SLUICE_OPTION_CONFLICT",option:"maxKeys",expected:`at least ${e.length}, since a client's key counts once for each policy`,received:this.maxKeys,fix:"Raise maxKeys of the memory store."});return new He(this,e.map(({name:n})=>this.table(t,n)))}inspect(e){let t=$e(e);return Rr([...this.keyspaces.values()],this.clock,t)}close(){this.sweeper.close();for(let e of this.tables)e.clear()}kept({slots:e},t){e.dueAt<this.sweeper.nextAt&&this.sweeper.expect(e.dueAt,t)}makeRoom(e){return this.freeExpired(e)||this.evict()}displace(e){let t=e.size>0?e:this.tables.find(({size:n})=>n>0);t?.free(t.slots.soonest())}freeExpired(e){let t=0;for(let n of this.tables)for(;n.isDue(e)&&t<bs;t+=1)if(n.sweep(e)>0)return!0;return!1}evict(){let e,t=-1;for(let n=0,i=0;n<this.tables.length&&i<ws;n+=1){this.hand=(this.hand+1)%this.tables.length;let o=this.tables[this.hand],s=o.slots.best();s<0||(i+=1,!(e!==void 0&&e.slots.usage(t)<=o.slots.usage(s))&&(e=o,t=s))}return e?.free(t),e!==void 0}table(e,t){let n=`${e}:${t}`,i=this.keyspaces.get(n);if(i!==void 0)return i.table;let o=new je(this.maxKeys);return this.keyspaces.set(n,{prefix:e,name:t,table:o}),this.tables.push(o),o}};var ks=1e5,Ze=class{clock;ledgers=new Map;store;constructor(e){this.clock=e}opener(e,t){let n=[t,...e.map(({name:i})=>i)].join(`
`);return()=>this.ledgers.get(n)??this.open(n,e,t)}clear(){this.store?.close(),this.store=void 0,this.ledgers.clear()}open(e,t,n){this.store??=Ve({maxKeys:ks,clock:this.clock});let i=this.store.open(t,n);return this.ledgers.set(e,i),i}};var vs=1e4,Qe=class{clock;keyspaces=new Map;refusals=new Map;constructor(e){this.clock=e}get isEmpty(){return this.refusals.size===0}space({name:e},t){let n=`${t}
${e}`,i=this.keyspaces.get(n);return i===void 0&&(i={number:this.keyspaces.size,settles:!1,ends:0},this.keyspaces.set(n,i)),i}get(e,t){return this.refusals.get(sn(e,t))}set(e,t,n){let i=sn(e,t);if(this.refusals.delete(i),this.refusals.size===vs){let[o]=this.refusals.keys();this.refusals.delete(o)}this.refusals.set(qe(i),n)}delete(e,t){this.refusals.delete(sn(e,t))}clear(){this.refusals.clear()}};function sn({number:r},e){return`${r} ${F(e)}`}var et=class{deciding;refusals;constructor(e,t){this.deciding=e,this.refusals=t}consume(e){let t=this.refusals.find(e,()=>this.deciding.isTrusted(e));if(t!==void 0)return Promise.resolve(t);let n=Je(e),i=this.refusals.listen();return this.deciding.consume(n).then(o=>(i(n,o),o))}peek(e){return this.deciding.peek(Je(e))}settle(e,t,n){let i=Je(e);this.refusals.settles();let o=i.map(({key:s})=>s);return this.refusals.ending(o,()=>this.deciding.settle(i,t,n))}renew(e){return this.deciding.renew(e.map(Je))}block(e,t){return this.refusals.ending(e,()=>this.deciding.block(e,t))}reset(e){return this.refusals.ending(e,()=>this.deciding.reset(e))}};function Je(r){return r.map(({key:e,limit:t,cost:n,slot:i})=>({key:e,limit:t,cost:n,slot:i}))}var tt=class{openShare;ledgers=new Map;constructor(e){this.openShare=e}async consume(e){let t=this.sharesOf(e.map(({key:s})=>s)),[n]=t;if(n!==void 0&&t.length===1)return n.ledger.consume(e);let i=await Promise.all(t.map(({ledger:s,places:a})=>s.attempt(G(e,a)))),o=qr(e,t,i);for(let s of i)s.conclude(o.admitted);return o}async peek(e){let t=this.sharesOf(e.map(({key:i})=>i)),n=t.map(async({ledger:i,places:o})=>{let s=G(e,o),a=s.map(l=>({...l,cost:0})),[d,{outcomes:c}]=await Promise.all([i.peek(s),i.peek(a)]);return{result:d,uncharged:c}});return qr(e,t,await Promise.all(n))}async settle(e,t,n){await this.onEveryShare(e.map(({key:i})=>i),async({ledger:i,places:o})=>{let s=G(e,o);s.some(({cost:a})=>a!==0)&&await i.settle(s,t,n)})}async renew(e){let t=new Map;for(let n of e)for(let{places:i,ledger:o}of this.sharesOf(n.map(({key:s})=>s))){let s=G(n,i);if(!s.some(Pr))continue;let a=`${i} ${s[0]?.key}`,d=t.get(a)??{ledger:o,requests:[]};t.set(a,d),d.requests.push(s)}await Promise.all([...t.values()].map(n=>n.ledger.renew(n.requests)))}block(e,t){return this.onEveryShare(e,({ledger:n,places:i})=>n.block(G(e,i),t))}reset(e){return this.onEveryShare(e,({ledger:t,places:n})=>t.reset(G(e,n)))}isTrusted(e){return this.sharesOf(e.map(({key:n})=>n)).every(({ledger:n,places:i})=>n.isTrusted(G(e,i)))}async onEveryShare(e,t){await Promise.all(this.sharesOf(e).map(t))}sharesOf(e){let t=new Map;return e.forEach((n,i)=>{let o=t.get(n);o===void 0?t.set(n,[i]):o.push(i)}),[...t.values()].map(n=>({places:n,ledger:this.ledgerOf(n)}))}ledgerOf(e){let t=this.ledgers.get(`${e}`);if(t!==void 0)return t;let n=this.openShare(e);return this.ledgers.set(`${e}`,n),n}};function G(r,e){return e.map(t=>r[t])}function qr(r,e,t){let n=t.map(({result:l})=>l),i=n.every(l=>l.admitted),o=Math.max(...n.map(l=>l.at)),s=Ss(n,i);if(n.filter(l=>l.admitted===i).every(({outcomes:l})=>l.length===0))return{admitted:i,at:o,source:s,outcomes:[]};let d=[],c=[];return t.forEach(({result:l,uncharged:h},m)=>{let p=l.admitted&&!i?h:l.outcomes;e[m]?.places.forEach((y,K)=>{d[y]=p[K]??Es(l,r[y]),c[y]={at:l.at,source:l.source}})}),{admitted:i,at:o,source:s,outcomes:d,origins:c}}function Ss(r,e){let t=r.filter(i=>i.admitted===e).map(({source:i})=>i),n=e?"store":"deny";return t.find(i=>i!==n)??n}function Es({admitted:r,at:e},{limit:t}){if(!r)return{admitted:r,remaining:0,resetMs:0,retryAfterMs:0,effectiveMs:0,delayMs:0};let n=new b;t.decide(n,e,0);let{remaining:i,resetMs:o,effectiveMs:s,delayMs:a}=n;return{admitted:r,remaining:i,resetMs:o,retryAfterMs:0,effectiveMs:s,delayMs:a}}var Wr=new Set;function ne(r,e){Wr.has(r)||(Wr.add(r),nt(r,e))}function nt(r,e){process.emitWarning(`${e} ${H(r)}`,{type:"SluiceWarning",code:r})}function an(r){return{dueAt:0,giveUp:r,before:void 0,after:void 0}}var it=class{end;constructor(){let e=an(()=>{});this.end=rt(e,e)}get isEmpty(){return this.end.after===this.end}*[Symbol.iterator](){for(let e=this.end.after;e!==this.end;){let{after:t}=e;yield e,e=t}}add(e){rt(this.end.before,e),rt(e,this.end)}delete(e){let{before:t,after:n}=e;return t===void 0||n===void 0?!1:(rt(t,n),e.before=void 0,e.after=void 0,!0)}};function rt(r,e){return r.after=e,e.before=r,e}var dn=class extends Error{name="DeadlineError"},Fr=1/2,Gr=1/10,ot=class{ms;calls=new it;timer;counted=0;tickedAt=0;constructor(e){this.ms=e}start(e){let t=performance.now();this.timer===void 0&&(this.tickedAt=t);let n=Math.min(t-this.tickedAt,this.ms*Fr);e.dueAt=this.counted+n+this.ms,this.calls.add(e),this.timer===void 0?this.arm():this.timer.ref()}end(e){let t=this.calls.delete(e);return this.calls.isEmpty&&this.timer?.unref(),t}arm(){let[e]=this.calls;if(this.timer=void 0,e===void 0)return;let t=Math.min(e.dueAt-this.counted,this.ms*Gr);this.timer=setTimeout(()=>this.tick(),Math.max(1,Math.ceil(t)))}tick(){let e=performance.now(),t=e-this.tickedAt;this.counted+=t>this.ms*Fr?this.ms*Gr:t,this.tickedAt=e;let{counted:n}=this;setImmediate(()=>this.expire(n)),this.arm()}expire(e){let t;for(let n of this.calls){if(n.dueAt>e)return;this.calls.delete(n),t??=new dn(`no answer within ${this.ms} ms`),n.giveUp(t)}}};var st=class{isOpen=!1;failures=0;failedAt=Number.NEGATIVE_INFINITY;probes=0;probeAt=0;closedAt=Number.NEGATIVE_INFINITY;succeeded(){this.failures=0}failed(e,t,n){return this.isOpen||(e-this.failedAt>=1&&(this.failures+=1,this.failedAt=e),this.failures<5&&!n)?!1:(this.isOpen=!0,t-this.closedAt>1e4&&(this.probes=0),this.schedule(t),!0)}isProbeDue(e){return this.isOpen&&e>=this.probeAt}hasten(e){this.probeAt=e}schedule(e){let t=Math.min(250*2**this.probes,2e3);this.probes+=1,this.probeAt=e+t*(.5+Math.random())}close(e){this.isOpen=!1,this.failures=0,this.closedAt=e}};var at=class{active=0;waiting=[];next=0;enter(e){this.active<1e3?this.start(e):this.waiting.length-this.next<1e4?this.waiting.push(e):e.refuse(new Error("too many calls wait for the store"))}leave(e){for(e.state==="active"&&(this.active-=1),e.state="left";this.active<1e3;){let t=this.shift();if(t===void 0)return;t.state==="waiting"&&this.start(t)}}clear(e){let t=this.waiting.slice(this.next);this.waiting=[],this.next=0;for(let n of t)n.state==="waiting"&&n.refuse(e)}start(e){this.active+=1,e.state="active",e.begin()}shift(){if(this.next===this.waiting.length)return;let e=this.waiting[this.next];return this.next+=1,(this.next===this.waiting.length||this.next===1e3)&&(this.waiting=this.waiting.slice(this.next),this.next=0),e}};var dt=class{state="waiting";dueAt=0;before=void 0;after=void 0;sender;call;unanswered;askedAt=void 0;constructor(e,t,n){this.sender=e,this.call=t,this.unanswered=n}begin(){this.askedAt=performance.now(),cn(this.call).then(e=>this.answered(e),e=>this.failed(e))}refuse(e){this.sender.leave(this),this.call.failed(e)}giveUp(e){this.sender.leave(this),this.askedAt!==void 0&&(this.unanswered.late+=1,this.sender.failed(e,this.askedAt)),this.call.failed(e)}answered(e){this.sender.end(this)?(this.sender.succeeded(),this.call.answered(e)):(this.unanswered.late-=1,this.call.late?.(e))}failed(e){let t=this.sender.end(this);t||(this.unanswered.late-=1),(t||e instanceof u)&&this.sender.failed(e,this.askedAt),t&&this.call.failed(e)}};function cn(r){try{return Promise.resolve(r.ask())}catch(e){return Promise.reject(e)}}var xs=1e3,As=8,Cs=3e4,ct=class{deadline;watch;breaker=new st;line=new at;unanswered={late:0,probes:0};probedAt=0;lastFailure;constructor(e,t){this.deadline=e,this.watch=t}get isTrusted(){return!this.breaker.isOpen}get failure(){return this.lastFailure}send(e){let t=new dt(this,e,this.unanswered);this.deadline.start(t),this.line.enter(t)}call(e){return new Promise((t,n)=>this.send({ask:e,answered:t,failed:n}))}probe(e){let{breaker:t}=this,n=performance.now();if(!t.isProbeDue(n))return;if(this.unanswered.probes>=As){if(n-this.probedAt<Cs)return;this.unanswered={late:0,probes:0}}let{unanswered:i}=this;this.probedAt=n,t.schedule(n),i.probes+=1;let o=an(()=>{});this.deadline.start(o),cn({ask:e}).then(()=>{i.probes-=1,this.deadline.end(o)?this.recover():t.hasten(performance.now())},s=>{i.probes-=1,this.deadline.end(o),s instanceof u&&this.failed(s,n)})}end(e){return this.deadline.end(e)?(this.line.leave(e),!0):!1}leave(e){this.deadline.end(e),this.line.leave(e)}succeeded(){this.breaker.isOpen||this.breaker.succeeded()}failed(e,t){let n=e instanceof u||this.unanswered.late>=xs;this.breaker.failed(t,performance.now(),n)?(this.lastFailure=e,this.watch.down(e),this.line.clear(e)):this.breaker.isOpen&&e instanceof u&&(this.lastFailure=e,this.watch.setUpFails(e))}recover(){this.breaker.isOpen&&(this.breaker.close(performance.now()),this.lastFailure=void 0,this.unanswered={late:0,probes:0},this.watch.up())}};var Hr=0,lt=class{number;deadline;parts=[];downs=0;isExplained=!1;constructor(e){this.deadline=new ot(e),Hr+=1,this.number=Hr}of(e){let t=this.parts[e];if(t!==void 0)return t;let n=new ct(this.deadline,this);return this.parts[e]=n,n}down(e){this.downs+=1,e instanceof u?this.setUpFails(e):this.downs===1&&this.tellDown(e)}setUpFails(e){this.isExplained||(this.isExplained=!0,this.tellDown(e))}up(){this.downs-=1,!(this.downs>0)&&(this.isExplained=!1,nt("SLUICE_STORE_UP","The store has recovered, and decides again."),this.publish("up"))}close(){this.downs>0&&this.publish("closed")}tellDown(e){let t=e instanceof Error?e.message:String(e);nt("SLUICE_STORE_DOWN",`The store failed, and is not used until it recovers: ${t}`),this.publish("down",t,Pe(e))}publish(e,t,n){Vt.hasSubscribers&&Vt.publish({store:this.number,state:e,reason:t,errorType:n})}};var ln=class{store;healths=new Map;local;refusals;users=0;constructor(e){this.store=e,this.local=new Ze(e.clock),this.refusals=new Qe(e.clock??(()=>performance.now()))}open(e,t,n){let i=this.guard(e,t,n),o=i.part===void 0?i:new tt(d=>this.guard(d.map(c=>e[c]),t,{...n,localLimit:(c,l)=>n.localLimit(d[c],l)})),s=e.map(d=>this.refusals.space(d,t)),a=new Ke(this.refusals,s,n.refusalCache);return n.settles&&a.settles(),new et(o,a)}join(){this.users+=1}leave(){if(this.users-=1,!(this.users>0)){this.local.clear(),this.refusals.clear();for(let e of this.healths.values())e.close()}}guard(e,t,n){let i=this.store.open(e,t,n.deadlineMs),o=this.health(n.deadlineMs),s=this.local.opener(e,`${n.localShare}/${t}`);return new Ue(i,s,a=>o.of(i.part?.(a)??0),n)}health(e){let t=this.healths.get(e)??new lt(e);return this.healths.set(e,t),t}},Br=new WeakMap,ut=class{shared;failureMode;closed=!1;constructor(e,t){this.shared=Br.get(e)??new ln(e),this.failureMode=t,Br.set(e,this.shared),this.shared.join()}open(e,t){return this.shared.open(e,t,this.failureMode)}close(){this.closed||(this.closed=!0,this.shared.leave())}};function Os(r){if(r==null)return!1;let e=r;if(typeof e.customCommand=="function")return typeof e.invokeScript=="function";if(typeof e.eval!="function")return!1;let t=typeof e.evalshaBuffer=="function"&&typeof e.status=="string",n=typeof e.evalSha=="function"&&typeof e.isOpen=="boolean";return t||n}function ht(r,e){if(Os(e))return e;throw new u({code:"SLUICE_STORE_UNKNOWN",option:r,expected:"a client of ioredis, iovalkey, node-redis or valkey-glide, or a store such as memoryStore()",received:e,fix:"Pass the client itself: new Redis(url) of ioredis, or createClient({ url }) of redis."})}function mt(r,e,t,n=Cn(r)){return new u({code:r,option:"store",expected:e,received:t,fix:n})}var Ts=new Map([["ResponseError","ERR"],["NoScriptError","NOSCRIPT"],["ReadOnly","READONLY"],["PermissionDenied","NOPERM"],["Moved","MOVED"],["CrossSlot","CROSSSLOT"]]),Yr=/^(?:An error was signalled by the server: - )?(\w+): /;function Xr(r){if(!(r instanceof Error))return r;let e=Yr.exec(r.message)?.[1];if(e===void 0)return r;let t=`${Ts.get(e)??e} `;return new Error(r.message.replace(Yr,()=>t),{cause:r})}function jr(r){return"customCommand"in r?Ps(r):"evalsha"in r?Ms(r):Is(r)}function Ms(r){let e=r;return{isCluster:r.isCluster===!0,evalsha:(t,n,i)=>e.evalshaBuffer(t,n.length,...n,...i),eval:(t,n,i)=>e.evalBuffer(t,n.length,...n,...i)}}var Rs=36;function Is(r){let e=r.withTypeMapping({[Rs]:Buffer});return{isCluster:typeof r.nodeClient=="function",evalsha:async(t,n,i)=>(_s(r),e.evalSha(t,{keys:n,arguments:i})),eval:(t,n,i)=>e.eval(t,{keys:n,arguments:i})}}var Ls=0;function Ps(r){let e=async(...t)=>{try{return await r.customCommand(t,{decoder:Ls})}catch(n){throw Xr(n)}};return{isCluster:typeof r.invokeScriptWithRoute=="function",evalsha:(t,n,i)=>e("EVALSHA",t,`${n.length}`,...n,...i),eval:(t,n,i)=>e("EVAL",t,`${n.length}`,...n,...i)}}function _s({isOpen:r}){if(r)return;throw mt("SLUICE_REDIS_NOT_CONNECTED","a node-redis client that is connected",{isOpen:r})}async function zr(r){return"customCommand"in r?Us(r):"evalsha"in r?Ns(r):Ds(r)}function Ns(r){let{nodes:e}=r;return((r.isCluster?e?.call(r,"master"):void 0)??[r]).map(n=>async(i,o,s)=>{let[a,d]=await n.scan(i,"MATCH",o,"COUNT",s);return{cursor:a,keys:d}})}async function Ds(r){let e=typeof r.nodeClient=="function",t=r;return(e?await Promise.all(t.masters.map(i=>t.nodeClient(i))):[r]).map(i=>async(o,s,a)=>{let d=await i.scan(o,{MATCH:s,COUNT:a});return{cursor:String(d.cursor),keys:d.keys.map(String)}})}var Vr=1;async function Us(r){let e=r;return(typeof r.invokeScriptWithRoute=="function"?await Ks(e):[void 0]).map(i=>async(o,s,a)=>{let d=["SCAN",o,"MATCH",s,"COUNT",`${a}`],c=i===void 0?{}:{route:i},l=await e.customCommand(d,{decoder:Vr,...c}),[h,m]=l;return{cursor:h,keys:m}})}async function Ks(r){let t=(await r.customCommand(["CLUSTER","SLOTS"],{decoder:Vr})).map(([,,[n,i]])=>[`${n}:${i}`,{type:"routeByAddress",host:n,port:i}]);return[...new Map(t).values()]}var $s=1e3;function Qr(r){let e=-1/0;return()=>{let t=performance.now();if(!(t<e)){e=t+$s;try{let n=r();S(n)&&Promise.resolve(n).catch(Zr)}catch(n){Zr(n)}}}}function Zr(r){ne("SLUICE_ON_READ_ONLY",`onReadOnly threw ${te(r)}. The limiter keeps working. Fix the callback.`)}var yi=require("node:timers/promises");var un=`-- The Lua form of ticks.ts, for the steps that count in ticks coarser than a millisecond.
local function tickAt(ms, window, ticks)
  local windows = math.floor(ms / window)
  return windows * ticks + math.floor((ms - windows * window) * ticks / window)
end

local function tickStart(tick, window, ticks)
  local windows = math.floor(tick / ticks)
  return windows * window + math.ceil((tick - windows * ticks) * window / ticks)
end
`;var Jr=`-- Runs every operation on the states in Redis, but for requests that request.lua can decide.
-- Composed by compose.ts, which puts the steps of the algorithms and ticks.lua in their places.
--
-- KEYS    each once; all of one request in one slot
--         probe: first a key that no policy has
-- ARGV[1] JSON: op        'consume' | 'peek' | 'settle' | 'renew' | 'probe' | 'block' |
--                         'reset'
--               now       ms, or -1: the server's clock
--               policies  charges per request
--               steps     for each limit, which of the steps it takes (from 1)
--               limits    for each limit, its constants, as its step names them
--               charges   for each charge three numbers: its key (from 1), its limit (from 1) and
--                         its units (consume, peek: the cost; settle, renew, probe: the difference;
--                         block: ms).
--                         Left out if the n-th charge is of the n-th key, the limits take turns,
--                         and all units are the same:
--               units     those of every charge
--               slots     for each charge the slot that it takes, corrects or renews, or 0; left out if
--                         none has one
--               chargedAt settle, probe: when the charge was made, ms, or -1: now
--               minTtl    ms: the least that a key lives after a write
-- returns bytes: the time (ms, a little-endian double), then 32 for each charge of consume and peek:
--         the state as it was read, all zero for a key never seen. From it the step in TypeScript
--         tells what was decided;
--         of a step that keeps entries, what was decided: remaining (units; refused: -1 - remaining),
--         reset (ms), wait (ms; -1: never), 0;
--         of a blocked key, as if such a step had refused it: -1, for how long (ms), the same, 1;
--         of a key that can't be read: minus infinity.
--         If there are any of these, an array: the bytes, and what Redis says of each.
--
-- A state is 32 bytes: three integers a, b, c and the time (ms) until which the key lives, as
-- little-endian doubles; a step may keep more behind them. A blocked key holds 8 bytes instead:
-- the time (ms) until which it is blocked.
local NEVER, MAX_EXACT, STATE = -1, 9007199254740991, 32
-- Offsets of the head as text: Redis takes long to format a number that a script hands it.
local HEAD, HEAD_END = '0', '31'
local NEW = ('\\0'):rep(STATE)

--> ticks
--> client
local steps = {
  --> steps
}

local call, pack, read = redis.call, struct.pack, struct.unpack
local input = cjson.decode(ARGV[1])
local op, now, minTtl, limits = input.op, input.now, input.minTtl, input.limits
local policies, charges, units, slots = input.policies, input.charges, input.units, input.slots
local count = charges and #charges / 3 or #KEYS
local stepOf = {}
for limit, number in ipairs(input.steps) do stepOf[limit] = steps[number] end
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The key, the limit and the units of a charge, the i-th of its request.
local function chargeOf(at, i)
  if not charges then return at, i, units end
  return charges[3 * at - 2], charges[3 * at - 1], charges[3 * at]
end

local function slotOf(at)
  return slots and slots[at] or 0
end

if op == 'reset' then
  for at = 1, count do call('DEL', KEYS[chargeOf(at, at)]) end
  return { now }
end

if op == 'block' then
  for at = 1, count do
    local k, _, ms = chargeOf(at, at)
    call('SET', KEYS[k], pack('<d', now + ms), 'PX', math.max(ms, minTtl))
  end
  return { now }
end

-- Calls every command that another operation, or request.lua, may call: where one of them fails, the probe fails
-- too, before it has charged anything. SET comes first: out of memory, Redis refuses a script's
-- first write only.
if op == 'probe' then
  local probe = KEYS[1]
  call('SET', probe, '', 'PX', minTtl)
  call('SETRANGE', probe, HEAD, 'x')
  call('GETRANGE', probe, HEAD, HEAD)
  call('MGET', probe)
  call('GET', probe)
  call('EXISTS', probe)
  call('PEXPIRE', probe, minTtl)
  call('DEL', probe)
  op = 'settle'
end

-- The states that one command can read, by key: those of steps that keep nothing behind them.
local raws = {}
do
  local plain, names, numbers = true, {}, {}
  for limit = 1, #limits do plain = plain and not stepOf[limit].entries end
  if plain then
    raws = call('MGET', unpack(KEYS))
  else
    for at = 1, count do
      local k, limit = chargeOf(at, (at - 1) % policies + 1)
      if not stepOf[limit].entries then names[#names + 1], numbers[#numbers + 1] = KEYS[k], k end
    end
    local found = #names > 0 and call('MGET', unpack(names))
    for n = 1, #names do raws[numbers[n]] = found[n] end
  end
end

-- a, b, c, until when the key lives, until when it is blocked, and why it can't be decided.
local function load(k, limit)
  local raw, step = raws[k], stepOf[limit]
  local problem = step.check and step.check(limits[limit], now)
  if problem then return 0, 0, 0, 0, false, problem end
  if step.entries then
    raw = redis.pcall('GETRANGE', KEYS[k], HEAD, HEAD_END)
    if raw.err then return 0, 0, 0, 0, false, raw.err end
  end
  if raw and #raw == STATE then
    local a, b, c, livesUntil = read('<dddd', raw)
    return a, b, c, livesUntil
  end
  if not raw or #raw == 0 then
    -- MGET takes what is no string for nothing.
    if raw or call('EXISTS', KEYS[k]) == 0 then return 0, 0, 0, 0 end
    return 0, 0, 0, 0, false, 'WRONGTYPE Operation against a key holding the wrong kind of value'
  end
  if #raw ~= 8 then return 0, 0, 0, 0, false, 'ERR a key that holds no state' end
  local blockedUntil = read('<d', raw)
  return 0, 0, 0, 0, blockedUntil > now and blockedUntil
end

-- A key outlives its state, by \`minTtl\` at least.
local function save(k, step, wholeIn, keepFor, livesUntil, a, b, c)
  local key = KEYS[k]
  if now + wholeIn <= livesUntil then
    call('SETRANGE', key, HEAD, pack('<ddd', a, b, c))
  else
    local ttl = keepFor + minTtl
    livesUntil = now + ttl
    local state = pack('<dddd', a, b, c, livesUntil)
    if step.entries then
      call('SETRANGE', key, HEAD, state)
      call('PEXPIRE', key, ttl)
    else
      call('SET', key, state, 'PX', ttl)
    end
  end
  -- A later charge may be of the same key.
  if charges then raws[k] = pack('<dddd', a, b, c, livesUntil) end
end

-- Corrects a charge, unless its key is blocked.
local function correct(at, k, limit, delta, chargedAt, a, b, c, livesUntil, blockedUntil)
  if blockedUntil then return end
  local step, wholeIn, keepFor = stepOf[limit]
  wholeIn, keepFor, a, b, c =
    step.settle(limits[limit], now, delta, chargedAt, a, b, c, KEYS[k], slotOf(at))
  if wholeIn == 0 then
    call('DEL', KEYS[k])
  else
    save(k, step, wholeIn, keepFor, livesUntil, a, b, c)
  end
end

if op == 'settle' then
  local chargedAt = input.chargedAt < 0 and now or input.chargedAt
  -- All are read before the first is written: a key that can't be read leaves none corrected.
  local states = {}
  for at = 1, count do
    local k, limit = chargeOf(at, at)
    states[at] = { load(k, limit) }
    if states[at][6] then return redis.error_reply(states[at][6]) end
  end
  for at = 1, count do
    local k, limit, delta = chargeOf(at, at)
    correct(at, k, limit, delta, chargedAt, unpack(states[at], 1, 5))
  end
  return { now }
end

if op == 'renew' then
  for at = 1, count do
    local k, limit, delta = chargeOf(at, (at - 1) % policies + 1)
    local a, b, c, livesUntil, blockedUntil, failure = load(k, limit)
    if not failure then correct(at, k, limit, delta, now, a, b, c, livesUntil, blockedUntil) end
  end
  return { now }
end

local states, failures = {}, {}

-- Decides a charge and adds to the reply what it says of it. Returns whether it is admitted, whether
-- the clock has stepped back behind the state, until when the key lives, and the state as it is now,
-- not charged yet.
local function decide(at, k, limit, cost)
  local step = stepOf[limit]
  local a, b, c, livesUntil, blockedUntil, failure = load(k, limit)
  if failure then
    -- What can't be read fails its own request only: none of that is charged.
    states[at] = pack('<dddd', -math.huge, 0, 0, 0)
    failures[#failures + 1] = failure
    return false, false
  end
  if blockedUntil then
    states[at] = pack('<dddd', -1, blockedUntil - now, blockedUntil - now, 1)
    return false, false
  end
  local admitted, rebased, x, y, z, remaining, resetIn, wait =
    step.decide(limits[limit], now, cost, a, b, c, KEYS[k])
  if step.entries then
    states[at] = pack('<dddd', admitted and remaining or -1 - remaining, resetIn, wait, 0)
  else
    states[at] = livesUntil > 0 and raws[k] or NEW
  end
  return admitted, rebased, livesUntil, x, y, z
end

local function commit(at, k, limit, cost, livesUntil, a, b, c)
  local step, wholeIn, keepFor = stepOf[limit]
  wholeIn, keepFor, a, b, c =
    step.commit(limits[limit], now, cost, a, b, c, KEYS[k], slotOf(at))
  save(k, step, wholeIn, keepFor, livesUntil, a, b, c)
end

local consumes = op == 'consume'

local function decideAlone(at)
  local k, limit, cost = chargeOf(at, 1)
  local admitted, rebased, livesUntil, a, b, c = decide(at, k, limit, cost)
  if consumes and ((admitted and cost > 0) or rebased) then
    commit(at, k, limit, admitted and cost or 0, livesUntil, a, b, c)
  end
end

-- Of the request that is being decided, by policy: what decide returned.
local admittedOf, rebasedOf, livesUntilOf, aOf, bOf, cOf = {}, {}, {}, {}, {}, {}

local function decideInto(i, at, k, limit, cost)
  admittedOf[i], rebasedOf[i], livesUntilOf[i], aOf[i], bOf[i], cOf[i] = decide(at, k, limit, cost)
  return admittedOf[i]
end

-- Whether a policy with the same key as the i-th refuses the request.
local function isRefused(first, i)
  local client = clientOf(KEYS[chargeOf(first + i - 1, i)])
  for j = 1, policies do
    local k = chargeOf(first + j - 1, j)
    if not admittedOf[j] and clientOf(KEYS[k]) == client then return true end
  end
  return false
end

-- All charges of a request are decided before the first is committed.
local function decideTogether(first)
  local all, failed = true, #failures
  for i = 1, policies do
    local k, limit, cost = chargeOf(first + i - 1, i)
    if not decideInto(i, first + i - 1, k, limit, cost) then all = false end
  end
  for i = 1, policies do
    local k, limit, cost = chargeOf(first + i - 1, i)
    if stepOf[limit].refusals then
      local counts = admittedOf[i] and #failures == failed and isRefused(first, i)
      cost = counts and cost or 0
    elseif not all then
      cost = 0
    end
    if admittedOf[i] and not all and stepOf[limit].entries then
      -- Another policy refused: this one is shown, and kept, as it stands.
      decideInto(i, first + i - 1, k, limit, 0)
    end
    if consumes and (cost > 0 or rebasedOf[i]) then
      commit(first + i - 1, k, limit, cost, livesUntilOf[i], aOf[i], bOf[i], cOf[i])
    end
  end
end

local decideRequest = policies == 1 and decideAlone or decideTogether
for first = 1, count, policies do decideRequest(first) end

local reply = pack('<d', now) .. table.concat(states)
if #failures == 0 then return reply end
return { reply, unpack(failures) }
`;var ei=`-- Decides requests of a few policies, in as little time as Redis can: straight through, making
-- nothing that a request does not need. Every request has the same limits and costs, and keys of its
-- own. All other calls run driver.lua, with the same steps.
--
-- KEYS    of the requests, one after the other: one for each policy, no two the same
-- ARGV    the constants of each policy, in the order that its step names; then, unless each costs
--         one unit and the clock is the server's: the cost of each policy (units); then, unless it
--         is the server's: the time (ms), and the least that a key lives after a write (ms)
-- returns bytes: the time (ms, a little-endian double), then for each key its state as it was read:
--         32 bytes, as driver.lua documents them, all zero for a key never seen. From these the step
--         in TypeScript tells what was decided. A blocked key has in their place -1 and for how
--         long (ms), one that can't be read minus infinity.
--         If there are any of these last, an array: the bytes, and what Redis says of each.
--
-- compose.ts writes a block \`each\` once for each policy, with its number for \`i\`, the sections of
-- its step for \`--> names\`, what it is charged for \`--> due\`, numbers of arguments for COST_i, NOW
-- and LEAST_TTL, and leaves out lines that end with \`--? name\` where the step has nothing of the name.
local MAX_EXACT = 9007199254740991
local KEYS, ARGV, call, pack = KEYS, ARGV, redis.call, struct.pack
local now = ARGV[NOW]
if now then
  now = now + 0
else
  local time = call('TIME')
  now = time[1] * 1000 + time[2] / 1000
  now = now - now % 1
end

--# each
local raw_i, problem_i
--> constants
local cost_i = (ARGV[COST_i] or 1) + 0
--> check
--# end each

local raws, failures
if #KEYS > 1 then raws = call('MGET', unpack(KEYS)) end

for first = 0, #KEYS - 1, POLICIES do
  local readable = true
  --# each
  local a_i, b_i, c_i, livesUntil_i, admitted_i, rebased_i
  -- MGET takes what is no string for nothing: GET says what it is.
  raw_i = raws and raws[first + i] or redis.pcall('GET', KEYS[first + i])
  if problem_i then raw_i = {} end --? check
  if raw_i and #raw_i == 32 then
    a_i, b_i, c_i, livesUntil_i = struct.unpack('<dddd', raw_i)
  else
    a_i, b_i, c_i, livesUntil_i = 0, 0, 0, 0
    if not raw_i then
      raw_i = ('\\0'):rep(32)
    elseif #raw_i == 8 then
      local blockedMs = struct.unpack('<d', raw_i) - now
      if blockedMs > 0 then a_i = -1 end
      raw_i = pack('<dddd', a_i, math.max(0, blockedMs), 0, 0)
    elseif raw_i.err and not raw_i.err:find('WRONGTYPE', 1, true) then
      return raw_i
    else
      failures = failures or {}
      failures[#failures + 1] = problem_i or raw_i.err or 'ERR a key that holds no state'
      a_i, raw_i, readable = -1, pack('<dddd', -math.huge, 0, 0, 0), false
    end
    if raws then raws[first + i] = raw_i end
  end
  if a_i >= 0 then
    --> enter decide
  end
  --# end each

  --# each
  --> due
  if due_i > 0 or rebased_i then
    local wholeIn
    --> commit whole
    if now + wholeIn <= livesUntil_i then
      call('SETRANGE', KEYS[first + i], '0', pack('<ddd', a_i, b_i, c_i))
    else
      local keepFor = wholeIn
      --> keep
      local ttl = keepFor + (ARGV[LEAST_TTL] or 1000)
      local state = pack('<dddd', a_i, b_i, c_i, now + ttl)
      call('SET', KEYS[first + i], state, 'PX', string.format('%.0f', ttl))
    end
  end
  --# end each
end

local reply = pack('<d', now) .. (raws and table.concat(raws) or raw_1)
if failures then return { reply, unpack(failures) } end
return reply
`;function ti(r){let e=new Map,t={};for(let n of r.split(/^--# /m).slice(1)){let[i="",...o]=n.split(`
`),[s="",...a]=i.trim().split(" ");t[s]=a,e.set(s,o.join(`
`).trim())}return{constants:t.constants??[],sections:(...n)=>n.map(i=>e.get(i)??"").join(`
`),keepsEntries:e.has("functions"),countsRefusals:e.has("refusals")}}var ni=`local function clientOf(key) return string.match(key, '{.*}') end
`;function ri(r){let e=r.map(({lua:l})=>ti(l)),t=0,n=r.map(l=>{let h=t+1;return t+=l.constants,Array.from({length:l.constants},(m,p)=>`ARGV[${h+p}] + 0`)}),i=t,[o,s]=[i+r.length+1,i+r.length+2],a=r.some((l,h)=>e[h]?.constants[l.constants-1]==="ticks"),d=ei.replace(/ *--# each\n([\s\S]*?) *--# end each\n/g,(l,h)=>e.map((m,p)=>qs(h,m,p,n[p],i).replace("--> due",Gs(m,p,e.length))).join("")).replace("POLICIES",`${e.length}`).replaceAll("[NOW]",`[${o}]`).replaceAll("[LEAST_TTL]",`[${s}]`),c=e.some(({countsRefusals:l})=>l)?ni:"";return oi(c+(a?un+d:d))}function qs(r,e,t,n,i){let o=t+1,s=e.constants.map(a=>`${a}_${o}`).join(", ");return r.replace(/^.* --\? (.*)\n/gm,(a,d)=>e.sections(d)===""?"":a).replace(/\bi\b/g,`${o}`).replace(/_i\b/g,`_${o}`).replaceAll(`[COST_${o}]`,`[${i+o}]`).replace(/^ *--> (?!due)(.*)$/gm,(a,d)=>d==="constants"?`local ${s} = ${n.join(", ")}`:Fs(e,o,e.sections(...d.split(" ")),d.startsWith("commit")))}var Ws=["a","b","c","cost","admitted","rebased","problem"];function Fs(r,e,t,n){let i=new Set([...Ws,...r.constants]);return t.replace(/'[^'\n]*'|\b[a-zA-Z]\w*/g,o=>o==="cost"&&n?`due_${e}`:i.has(o)?`${o}_${e}`:o)}function Gs({countsRefusals:r},e,t){let n=e+1,i=Array.from({length:t},(d,c)=>c+1);if(!r){let d=i.map(c=>`admitted_${c}`).join(" and ");return`local due_${n} = ${d} and cost_${n} or 0`}let o=d=>`clientOf(KEYS[first + ${d}])`,s=i.filter(d=>d!==n).map(d=>`not admitted_${d} and ${o(d)} == ${o(n)}`),a=`readable and admitted_${n} and (${["false",...s].join(" or ")})`;return`local due_${n} = ${a} and cost_${n} or 0`}function ii(r){let e=r.map(n=>Hs(ti(n))).join(`,
`),t=Jr.replace("--> client",()=>ni).replace("--> ticks",()=>un).replace("--> steps",()=>e);return oi(t)}function oi(r){return r.replace(/^ *--.*\n/gm,"")}function Hs(r){let e=r.constants.map((i,o)=>`constants[${o+1}]`),t=`local ${r.constants.join(", ")} = ${e.join(", ")}`,n=r.sections("check");return`(function()
${r.sections("functions")}
return {
entries = ${r.keepsEntries},
check = ${n===""?"nil":`function(constants, now)
${t}
local problem
${n}
return problem
end`},
refusals = ${r.countsRefusals},
decide = function(constants, now, cost, a, b, c, key)
${t}
local admitted, rebased, remaining, resetIn, wait = false, false
${r.sections("enter","decide")}
return admitted, rebased, a, b, c, remaining, resetIn, wait
end,
commit = function(constants, now, cost, a, b, c, key, slot)
${t}
local wholeIn, keepFor
${r.sections("commit","whole")}
keepFor = wholeIn
${r.sections("keep")}
return wholeIn, keepFor, a, b, c
end,
settle = function(constants, now, delta, chargedAt, a, b, c, key, slot)
${t}
local wholeIn, keepFor, rebased
${r.sections("enter","settle","whole")}
keepFor = wholeIn
${r.sections("keep")}
return wholeIn, keepFor, a, b, c
end,
}
end)()`}var si=require("node:crypto"),U=class{text;sha;constructor(e){this.text=e,this.sha=(0,si.createHash)("sha1").update(e).digest("hex")}run(e,t,n,i,o){return e.evalsha(this.sha,t,n).then(i,s=>!(s instanceof Error)||!s.message.startsWith("NOSCRIPT")?o(s):e.eval(this.text,t,n).then(i,o))}};var ai=new Map,re=class{script;steps;constructor(e){this.steps=[...new Set(e.map(({lua:n})=>n))].sort();let t=this.steps.join(`
`);this.script=ai.get(t)??new U(ii(this.steps)),ai.set(t,this.script)}step=({algorithm:e})=>this.steps.indexOf(e.lua)+1};var Bs=Uint16Array.from({length:256},(r,e)=>{let t=e<<8;for(let n=0;n<8;n+=1)t=t&32768?t<<1^4129:t<<1;return t});function di(r){let e=r.indexOf("{"),t=e===-1?-1:r.indexOf("}",e+1),n=t>e+1,i=n?t:r.length,o=0;for(let s=n?e+1:0;s<i;s+=1){let a=o>>8^r.charCodeAt(s);o=o<<8&65535^Bs[a]}return o%16384}var Ys=64,Xs=10;function ie(r){return js(r)?r:Jt(r)}function ci(r){return di(ie(r))>>Xs}function js(r){if(r.length===0||r.length>Ys)return!1;for(let e=0;e<r.length;e+=1){let t=r.charCodeAt(e);if(!(t>32&&t<127&&t!==35&&t!==123&&t!==125))return!1}return!0}var zs=[{says:/^NOPERM |ACL failure in script|The user executing the script can't /,code:"SLUICE_REDIS_FORBIDDEN",expected:"a Redis user whose ACL allows the script"},{says:/^(NOAUTH|WRONGPASS) /,code:"SLUICE_REDIS_AUTH",expected:"the credentials of the Redis server"},{says:/^(MOVED \d|CROSSSLOT )/,passesInCluster:!0,code:"SLUICE_REDIS_CLUSTER",expected:"a client of the whole Redis Cluster, not of one of its nodes"},{says:/^ERR unknown command .?eval|^ERR Could not find scripting engine/i,code:"SLUICE_REDIS_NO_SCRIPTS",expected:"a Redis server that runs Lua scripts"},{says:/\bREADONLY /,code:"SLUICE_REDIS_READONLY",expected:"a Redis master"}];function oe(r,e){let t=r instanceof Error?r.message:"",n=zs.find(({says:i,passesInCluster:o})=>i.test(t)&&!(e&&o));return n===void 0?r:mt(n.code,n.expected,t)}function li(r){return r instanceof u&&r.code==="SLUICE_REDIS_READONLY"}var hn=8,ui=32;function hi(r,e){if(Array.isArray(r))throw mi(r[1]);let t=r,n=t.readDoubleLE(0),i=[mn(t,hn,n)];for(let o=1;o<e.length;o+=1)i.push(mn(t,hn+o*ui,n));return{admitted:be(i,e,n),at:n,source:"store",outcomes:i}}function se(r,e){let[t,...n]=Array.isArray(r)?r:[r],i=t.readDoubleLE(0),o=hn;return e.map(s=>{let a,d=[],c=s.map(l=>{let{keepsLog:h}=l.limit.algorithm;return t.readDoubleLE(o)===-1/0&&(a=mi(n.shift())),d.push(h?Zs(t,o,i):mn(t,o,i)),o+=ui,h?{key:l.key,cost:0,limit:Vs}:l});return a!==void 0?a:{admitted:be(d,c,i),at:i,source:"store",outcomes:d}})}var Vs={decide(){},commit(){}};function Zs(r,e,t){let n=r.readDoubleLE(e),i=r.readDoubleLE(e+16),o=new b;return o.admitted=n>=0,o.remaining=o.admitted?n:-1-n,o.resetMs=r.readDoubleLE(e+8),o.effectiveMs=i<0?1/0:i,o.retryAfterMs=o.admitted?0:o.effectiveMs,r.readDoubleLE(e+24)===1&&(o.blockedUntil=t+o.resetMs),o}function mn(r,e,t){let n=new b,i=r.readDoubleLE(e),o=r.readDoubleLE(e+8);return i<0?(n.blockedUntil=t+o,n):(n.a=i,n.b=o,n.c=r.readDoubleLE(e+16),n)}function mi(r){return oe(new Error(String(r)),!1)}var A=class{keys=[];numbers=new Map;charges=[];slots=[];limits=[];add(e,t,n,i=0){let o=this.numbers.get(e);o===void 0&&(o=this.keys.push(e),this.numbers.set(e,o)),this.charges.push(o,this.numberOf(t),n),this.slots.push(i)}input(e,t,n,i,o,s=-1){let{charges:a,limits:d}=this,c=d.map(o),l=d.map(y=>y.constants(t<0?Date.now():t)),h=this.isRegular(i)?{units:a[2]}:{charges:a},m=this.slots.some(y=>y>0)?this.slots:void 0;return JSON.stringify({...{op:e,now:t,policies:i,steps:c,limits:l,slots:m,chargedAt:s,minTtl:n},...h})}numberOf(e){if(e===void 0)return 0;let t=this.limits.indexOf(e)+1;return t===0?this.limits.push(e):t}isRegular(e){let{charges:t}=this;for(let n=0;n<t.length;n+=3){let i=n/3;if(t[n]!==i+1||t[n+1]!==i%e+1||t[n+2]!==t[2])return!1}return!0}};var Qs=50,fn=25,Js=100,ea=1e3,fi=new re(xr),ta=new U("return KEYS[1]"),ft=class{backend;inspection;keyspaces=new Map;constructor(e,t){this.backend=e,this.inspection=t}async*entries(){let{fail:e,connection:t}=this.backend,n=await this.keyPrefix(),i=this.pattern(n);for(let o of await this.backend.scans().catch(e)){let s="0";do{let a=performance.now(),d=await o(s,i,Qs).catch(e);s=d.cursor;let c=d.keys.flatMap(l=>this.parse(l,n)??[]);for(let l of na(c)){let h=t.isCluster?ra(l):[l];yield*(await Promise.all(h.map(m=>this.read(m)))).flat()}s!=="0"&&await(0,yi.setTimeout)(Math.min(performance.now()-a,Js))}while(s!=="0")}}async keyPrefix(){let{connection:e,fail:t}=this.backend,n=`${this.inspection.prefix}:{-}`;return(await ta.run(e,[n],[],String,t)).slice(0,-n.length)}pattern(e){let{prefix:t,key:n}=this.inspection,i=n===void 0?"*":pi(ie(n));return`${pi(e+t)}*:{${i}}:*`}parse(e,t){if(!e.startsWith(t))return;let n=e.slice(t.length),[,i="",o="",s=""]=/^([\w.:-]+):\{([!-z|~]{1,64})\}:(.+)$/.exec(n)??[],{inspection:a}=this,d=a.isIn(i)?this.keyspace(s):void 0;if(d===void 0||!a.wants(d))return;let c=a.key===void 0&&o.startsWith("#");return{prefix:i,keyspace:d,key:a.key??o,isDigest:c,name:n}}keyspace(e){if(this.keyspaces.has(e))return this.keyspaces.get(e);this.keyspaces.size===ea&&this.keyspaces.clear();let t=We(e);return this.keyspaces.set(e,t),t}async read(e){let{connection:t,now:n,minTtlMs:i,fail:o}=this.backend,s=new A;for(let{name:h,keyspace:m}of e)s.add(h,m.limit,0);let a=s.input("peek",n(),i,1,fi.step),d=e.map(({key:h,keyspace:m})=>[{key:h,limit:m.limit,cost:0}]),c=h=>se(h,d);return(await fi.script.run(t,s.keys,[a],c,o)).flatMap((h,m)=>h instanceof Error?[]:Fe(e[m],h.outcomes[0],h.at))}};function pi(r){return r.replace(/[\\*?[\]^-]/g,"\\$&")}function na(r){let e=Math.ceil(r.length/fn);return Array.from({length:e},(t,n)=>r.slice(n*fn,(n+1)*fn))}function ra(r){let e=new Map;for(let t of r){let n=`${t.prefix} ${t.key}`;e.set(n,[...e.get(n)??[],t])}return[...e.values()]}var ia=3,gi=new Map,pt=class r{algorithms;known=[];constructor(e){this.algorithms=e}static of(e){if(!(!(e.length>=1&&e.length<=ia)||e.some(({keepsLog:n})=>n)))return new r(e)}of(e,t){for(let{sizes:n,script:i}of this.known)if(n.every((o,s)=>o===e[s]?.limit.constants(t).length))return i;return this.compose(e.map(({limit:n})=>n.constants(t).length))}compose(e){let t=e.map((o,s)=>({lua:this.algorithms[s].lua,constants:o})),n=ri(t),i=gi.get(n)??new U(n);return gi.set(n,i),this.known.push({sizes:e,script:i}),i}},bi=new WeakMap;function wi(r,e,t,n){let i=[],o=e<0;for(let{limit:s,cost:a}of r){for(let d of oa(s.constants(t)))i.push(d);a!==1&&(o=!1)}if(o)return i;for(let{cost:s}of r)i.push(`${s}`);return e>=0&&i.push(`${e}`,`${n}`),i}function oa(r){let e=bi.get(r);return e===void 0&&(e=r.map(String),bi.set(r,e)),e}var yt=class{part;backend;prefix;suffixes;driver;requests;constructor(e,t,n){let i=t.map(({algorithm:s})=>s);this.backend=e,this.part=e.connection.isCluster?ci:void 0,this.prefix=`${n}:{`,this.suffixes=t.map(({name:s})=>`}:${s}`),this.driver=new re(i),new Set(this.suffixes).size===t.length&&(this.requests=pt.of(i))}async consume(e){return ki(await this.consumeAll([e]))}consumeAll(e){let t=this.requests&&this.distinctKeys(e);if(this.requests&&t)return this.consumeAlike(e,t,this.requests);let n=new A;for(let i of e)this.add(n,i);return this.run("consume",n).then(i=>se(i,e))}async peek(e){let t=await this.run("peek",this.callOf(e));return ki(se(t,[e]))}async settle(e,t){await this.run("settle",this.callOf(e),t)}async renew(e){let t=new A;for(let n of e)n.forEach(({key:i,limit:o,slot:s},a)=>{s!==void 0&&t.add(this.key(i,a),o,1,s)});t.keys.length>0&&await this.run("renew",t)}async probe(e){let t=new A;t.keys.push(`${this.prefix}${ie(e[0].key)}}`),this.add(t,e),await this.run("probe",t)}async block(e,t){await this.run("block",this.callFor(e,t))}async reset(e){await this.run("reset",this.callFor(e,0))}consumeAlike(e,t,n){let{connection:i,now:o,minTtlMs:s}=this.backend,a=e[0],d=o(),c=d<0?Date.now():d,l=wi(a,d,c,s),h=m=>e.length===1?[aa(()=>hi(m,a))]:se(m,e);return n.of(a,c).run(i,t,l,h,this.fail)}distinctKeys(e){let t=[];for(let i of e){if(!sa(i,e[0]))return;for(let o=0;o<i.length;o+=1)t.push(this.key(i[o].key,o))}return e.length===1||new Set(t).size===t.length?t:void 0}run(e,t,n){let{connection:i,now:o,minTtlMs:s}=this.backend,{script:a,step:d}=this.driver,c=t.input(e,o(),s,this.suffixes.length,d,n);return a.run(i,t.keys,[c],l=>l,this.fail)}fail=e=>{let{connection:t,readOnly:n}=this.backend,i=oe(e,t.isCluster);throw li(i)&&n(),i};add(e,t){for(let n=0;n<t.length;n+=1){let{key:i,limit:o,cost:s,slot:a}=t[n];e.add(this.key(i,n),o,s,a)}}callOf(e){let t=new A;return this.add(t,e),t}callFor(e,t){let n=new A;return e.forEach((i,o)=>{n.add(this.key(i,o),void 0,t)}),n}key(e,t){return this.prefix+ie(e)+this.suffixes[t]}};function sa(r,e){for(let t=0;t<r.length;t+=1){let[n,i]=[r[t],e[t]];if(n.limit!==i.limit||n.cost!==i.cost)return!1}return!0}function ki([r]){if(r instanceof Error)throw r;return r}function aa(r){try{return r()}catch(e){return e}}function gt(r,e={}){let t=jr(ht("client",r)),n=or("redisStore",e),i={connection:t,...ca(n.clock),readOnly:la(e)};return{mode:"async",clock:e.clock,open:(o,s)=>new yt(i,o,s),inspect:o=>da(r,i,o),close(){}}}function da(r,{connection:e,now:t,minTtlMs:n},i){let a={connection:e,now:t,minTtlMs:n,scans:()=>zr(r),fail:d=>{throw oe(d,e.isCluster)}};return new ft(a,$e(i)).entries()}function ca(r){return r===void 0?{now:()=>-1,minTtlMs:1e3}:{now:r,minTtlMs:36e5}}function la({onReadOnly:r}){return r===void 0?()=>{}:Qr(r)}var vi=new WeakMap;function Si(r){return r===void 0?Ve():ha(r)?r:ua(ht("store",r))}function ua(r){let e=vi.get(r)??gt(r);return vi.set(r,e),e}function ha(r){let e=r;return typeof e?.open=="function"&&typeof e.close=="function"}function Ei(r,e,t){let n=()=>t?.release()??(e==="async"?Promise.resolve():void 0);return{...r,release:n,[Symbol.dispose]:()=>{n()},[Symbol.asyncDispose]:async()=>n()}}function pn(r){return f.requestPolicy.cost.type.check("cost",r)}function yn(r){if(typeof r=="string"&&r!=="")return r;throw new u({code:"SLUICE_KEY",option:"key",expected:"text of at least one character that identifies a client",received:r,fix:"Pass the text that identifies the client. Without it, all clients would share one quota."})}var ma="an object such as { after: 3, within: '1h', for: ['1m', '10m', '1d'] }";function xi(r,e,t){let n=E("ban",r,ma);k("ban",n,["after","within","for"]);let i=C("ban.after",n.after,1,ce),o=q("ban.within",n.within),s=fa(n.for);return{limit:O.compile({limit:i,windowMs:o,bansMs:s}),space:dr({dryRun:t,windowMs:o,limit:i,quota:e})}}function fa(r){let e="Write for: ['1m', '10m', '1d'].";if(Array.isArray(r)&&r.length>=1&&r.length<=de)return r.map((t,n)=>q(`ban.for[${n}]`,t,1,void 0,e));throw new u({code:"SLUICE_OPTION_TYPE",option:"ban.for",expected:`an array of 1 to ${de} durations`,received:r,fix:e})}function pa(r,e,t){return{allowed:r,limit:r?1/0:0,remaining:r?1/0:0,resetMs:0,retryAfterMs:t,delayMs:0,policies:[],ban:void 0,source:r?"allow":"deny",at:e}}function gn(r,e,t){if(r.outcomes.length===0)return pa(r.admitted,r.at,r.admitted?0:5e3);let{outcomes:n}=r,i=n.length>e.length?ya(n[e.length]):void 0,o=Ai(r,e,t,0,i),{delayMs:s}=o,a=[o];for(let c=1;c<e.length;c+=1){let l=Ai(r,e,t,c,i);a.push(l),l.delayMs>s&&(s=l.delayMs)}let d=bt({policies:a,allowed:r.admitted});return{allowed:r.admitted,limit:d.limit,remaining:d.remaining,resetMs:d.resetMs,retryAfterMs:d.retryAfterMs,delayMs:r.admitted?s:0,policies:a,ban:i,source:r.source,at:r.at}}function ya(r){if(!(r===void 0||r.admitted))return{began:r.counted===!0,endsMs:r.retryAfterMs}}function ga(r,{endsMs:e}){let{admitted:t,retryAfterMs:n,resetMs:i}=r,o=Math.max(n,e);return{admitted:!1,remaining:0,resetMs:Math.max(t?0:i,e),retryAfterMs:o,effectiveMs:o,delayMs:0}}function Ai(r,e,t,n,i){let{key:o,limit:s}=t[n],a=r.outcomes[n],c=i!==void 0&&o===t[0]?.key?ga(a,i):a,{at:l,source:h}=r.origins?.[n]??r,{name:m,unit:p}=e[n];return{name:m,unit:p,key:o,windowMs:s.windowMs,allowed:c.admitted,limit:s.units,remaining:ve(c.remaining),resetMs:ve(c.resetMs),retryAfterMs:ve(c.retryAfterMs),delayMs:r.admitted?ve(c.delayMs):0,effectiveMs:ve(c.effectiveMs),source:h,at:l}}function bt({policies:r,allowed:e}){let t=r[0];for(let n=1;n<r.length;n+=1){let i=r[n];ba(i,t,e)&&(t=i)}return t}function ba(r,e,t){return t?r.remaining!==e.remaining?r.remaining<e.remaining:r.resetMs>e.resetMs:r.retryAfterMs>e.retryAfterMs}function ve(r){let e=r|0;return e===r?e:r}function Ci(r,e,t){let{deadline:n,onStoreError:i,refusalCache:o,localShare:s}=r;return{deadlineMs:n,onStoreError:i,refusalCache:o,settles:t,localShare:s,localLimit:(a,d)=>e[a]?.shareOf(d,s)??d}}var Oi=1e3,wt=class{periodMs;held=new Map;timer;constructor(e){this.periodMs=e/3}add(e,t,n){let i=this.held.get(e)??new Set;this.held.set(e,i),i.add(t),this.timer??=setInterval(()=>this.renew(),this.periodMs).unref();let o=!0,s=!0,a=d=>{s&&(s=!1,this.delete(e,t),n(d))};return{release:()=>{if(o)return o=!1,a("released"),Ti(()=>e.settle(Ge(t)))},abandon:()=>a("abandoned")}}close(){clearInterval(this.timer),this.timer=void 0,this.held.clear()}delete(e,t){let n=this.held.get(e);n?.delete(t),n?.size===0&&this.held.delete(e),this.held.size===0&&this.close()}renew(){for(let[e,t]of this.held){let n=[...t];for(let i=0;i<n.length;i+=Oi)Ti(()=>e.renew?.(n.slice(i,i+Oi)))}}};function Ti(r){let e=r();return S(e)?e.catch(()=>{}):void 0}var Mi=require("node:crypto");var kt=class{policies;limiter;keySecret;dryRun;constructor(e,t,n,i){this.policies=e,this.limiter=t,this.keySecret=n,this.dryRun=i}get areWatched(){return Re.hasSubscribers||Ie.hasSubscribers}get followUpsAreWatched(){return D.hasSubscribers||Le.hasSubscribers}decided(e,t,n,i){let{allowed:o,ban:s}=e,a=o?"admitted":this.refusal,d=e.policies.map(({name:l,unit:h,allowed:m,limit:p,remaining:y,source:K},At)=>{let Ui=o?t[At].cost:0;return{name:l,unit:h,allowed:m,limit:p,remaining:y,charged:Ui,source:K}}),c=e.policies[0]?.key;if(this.publish(e,{result:a,source:e.source,route:n,durationMs:i,policies:d}),s?.began&&Ie.hasSubscribers){let l=this.hash(c),{dryRun:h}=this;Ie.publish({...this.about(n),endsMs:s.endsMs,dryRun:h,keyHash:l})}}undecided(e,t,n){let i=e.allowed?"skipped":this.refusal;this.publish(e,{result:i,source:t,route:n,durationMs:0,policies:[]})}settled(e,t,n){if(!D.hasSubscribers)return e;let i=this.settlement("cost",t,n);return S(e)?e.then(()=>D.publish(i),o=>{throw D.publish({...i,errorType:Pe(o)}),o}):D.publish(i)}released(e,t,n){D.hasSubscribers&&D.publish(this.settlement(e,Ge(t),n))}consuming(e,t,n){let i=this.policies.map(({name:c})=>c),o={...this.about(n),policies:i},s,a=()=>W(e(),c=>{s=c;let{allowed:l,source:h}=c;return{allowed:l,source:h,policy:bt(c)?.name}}),d=t?ye.tracePromise(a,o):ye.traceSync(a,o);return W(d,()=>s)}waiting({delayMs:e,policies:t},n,i){if(!Le.hasSubscribers)return i();let{name:o}=t.find(a=>a.delayMs===e),s={...this.about(n),policy:o,delayMs:e};return Le.tracePromise(i,s)}get refusal(){return this.dryRun?"would_refuse":"refused"}about(e){return{limiter:this.limiter,route:e}}publish(e,t){if(!Re.hasSubscribers)return;let{allowed:n,limit:i,remaining:o,resetMs:s,retryAfterMs:a,delayMs:d,ban:c}=e,l=bt(e);Re.publish({limiter:this.limiter,...t,allowed:n,policy:l?.name,limit:i,remaining:o,resetMs:s,retryAfterMs:a,delayMs:d,banned:c!==void 0,keyHash:n?void 0:this.hash(l?.key)})}settlement(e,t,n){let i=this.policies.flatMap(({name:o,unit:s},a)=>{let d=t[a].cost;return d===0?[]:[{name:o,unit:s,units:d}]});return{...this.about(n),reason:e,policies:i,errorType:void 0}}hash(e){if(!(this.keySecret===void 0||e===void 0))return(0,Mi.createHmac)("sha256",this.keySecret).update(e).digest("base64url")}};var Ri=10,wa=100,ae=new Map,bn=!1,kn=0,vn=!1,vt=class r{shape;madeIn=kn;suspected=!1;constructor(e){this.shape=e}static start(e){if(!bn)return vn||(vn=!0,Promise.resolve().then(ka)),new r(e)}isOver(){return kn===this.madeIn?(this.suspected||this.suspect(),bn):(this.suspected&&wn(this.shape,-1),!0)}end(){this.suspected&&wn(this.shape,-1),this.suspected=!1}suspect(){this.suspected=!0,!(wn(this.shape,1)<Ri)&&(bn=!0,ae.clear(),ne("SLUICE_MADE_PER_REQUEST",`${Ri} limiters with the same options were each used immediately and never again. A limiter created in a request handler counts only one request and never limits. Create it once, outside the handler, and use it for every request.`))}};function ka(){vn=!1,kn+=1}function wn(r,e){let t=Math.max(0,(ae.get(r)??0)+e);return ae.size===wa&&!ae.has(r)&&ae.clear(),ae.set(r,t),t}var va=100,St=class{policies;ban;open;known=new Map;only;constructor(e,t,n){this.policies=e,this.ban=t,this.open=n;let i=this.get(En(e));e.every(({compiledLimit:o})=>o!==void 0)&&(this.only=i)}get names(){return[...this.known.keys()].join()}of(e){return this.only??this.get(e.map(({limit:t})=>t))}all({limit:e,window:t}={}){return(e!==void 0||t!==void 0)&&this.get(this.policies.map(n=>n.typicalFor(e,t))),[...this.known.values()]}get(e){let t=Sn(this.policies,e),n=t.map(({name:o})=>o).join(`
`),i=this.known.get(n);return i===void 0&&(this.ban!==void 0&&t.push({name:this.ban.space,algorithm:O}),i=this.open(t),this.known.size===va&&this.forgetOldest(),this.known.set(n,i)),i}forgetOldest(){for(let e of this.known.keys()){this.known.delete(e);return}}};function Sn(r,e){return r.map((t,n)=>{let i=e[n];return{name:t.space(i),algorithm:i.algorithm}})}function En(r){return r.map(({typicalLimit:e})=>e)}function Li(r,e,t,n){try{let i=r?.(e,t,n);S(i)&&Promise.resolve(i).catch(Ii)}catch(i){Ii(i)}}function Ii(r){ne("SLUICE_ON_DECISION",`onDecision threw ${te(r)}. The decision is not affected. Fix the callback.`)}var Pi=require("node:crypto"),Et=(0,Pi.randomInt)(2**48-1)*2**5;function _i(){return Et=Et===Number.MAX_SAFE_INTEGER?1:Et+1,Et}var Sa=["store","cache","local","allow","deny"],xt=class{policies;store;events;ownsStore;prefix;resilient;ledgers;ban;held;onDecision;watch;charges;constructor(e,t,n={}){let{scope:i="",settles:o=!1,dryRun:s=!1}=n;this.policies=e;let{name:a,keySecret:d}=v(f.events,"",t);this.events=new kt(e,a,d,s),this.onDecision=n.onDecision,this.store=Si(t.store),this.ownsStore=t.store===void 0;let c=v(f.store,"",t);if(this.prefix=c.prefix+i,c.ban!==void 0){let[m]=e;this.ban=xi(c.ban,m.space(m.typicalLimit),s)}let l=Ci(c,e,o);this.store.mode==="async"&&(this.resilient=new ut(this.store,l));let h=this.resilient??this.store;this.ledgers=new St(e,this.ban,m=>h.open(m,this.prefix)),this.charges=this.blankCharges(),this.held=this.slots(),this.ownsStore&&(this.watch=vt.start(this.ledgers.names))}consume(e,t){let n=t?.cost;if(this.held!==void 0)throw Ni("consume","acquire","no policy that has concurrent");return this.decideAndReport(this.fill(e,n===void 0?1:pn(n),t))}acquire(e,t){if(this.held===void 0)throw Ni("acquire","consume","a policy that has concurrent");let n=t?.cost===void 0?1:pn(t.cost),i=this.fill(e,n,t,this.blankCharges());return i.forEach((s,a)=>{this.policies[a]?.holdsSlots&&Object.assign(s,{cost:1,slot:_i()})}),W(this.decideAndReport(i),s=>Ei(s,this.store.mode,this.hold(i,s)))}hold(e,{allowed:t,policies:n},i){if(!(!t||n.length===0))return this.held?.add(this.ledgers.of(e),e,o=>this.events.released(o,e,i))}decide(e,t){if(this.watch?.isOver()&&(this.watch=void 0),!ye.hasSubscribers)return this.ask(e);let n=this.store.mode==="async";return this.events.consuming(()=>this.ask(e),n,t)}ask(e){return this.answer(this.ledgers.of(e).consume(this.withBan(e,1)),e)}peek(e,t){let n=this.fill(e,0,t);return this.answer(this.ledgers.of(n).peek(this.withBan(n,0)),n)}settle(e,t,n){let i=C("delta",t,-1e12,1e12),{at:o,source:s}=n??{};s!==void 0&&Ee("source",s,Sa),o!==void 0&&C("at",o,0,Number.MAX_SAFE_INTEGER);let a=this.fill(e,i,n),d=this.ledgers.of(a).settle(a,o,s);return this.events.settled(d,a,void 0)}settleCharges(e,t,n){let i=this.correct(e,t);return this.events.settled(i,e,n)}correct(e,{policies:t}){let n=this.ledgers.of(e),i=Ea(t).map(({at:o,source:s})=>{let a=e.map((d,c)=>t[c]?.at===o&&t[c]?.source===s?d:{...d,cost:0});return n.settle(a,o,s)});return xn(i)}reset(e,t){let n=this.everyKey(e),i=this.ledgers.all(t).map(o=>o.reset(n));return xn(i)}block(e,t,n){let i=this.everyKey(e),o=q("duration",t),s=this.ledgers.all(n).map(a=>a.block(i,o));return xn(s)}close(){this.resilient?.close(),this.watch?.end(),this.held?.close(),this.ownsStore&&this.store.close()}decideAndReport(e){let{events:t,onDecision:n}=this,i=t.areWatched;if(n===void 0&&!i)return this.decide(e);let o=performance.now();return W(this.decide(e),a=>(i&&t.decided(a,e,void 0,performance.now()-o),Li(n,a,void 0,e[0].key),a))}fill(e,t,n,i=this.store.mode==="sync"?this.charges:this.blankCharges()){yn(e);for(let o=0;o<i.length;o+=1){let s=i[o],a=this.policies[o];s.key=e,s.limit=a.compiledLimit??a.limitFor(n?.limit,n?.anchor,n?.window),s.cost=t}return i}withBan(e,t){let{ban:n}=this;return n===void 0?e:[...e,{key:e[0].key,limit:n.limit,cost:t}]}everyKey(e){let t=this.policies.map(()=>yn(e));return this.ban===void 0?t:[...t,e]}blankCharges(){return this.policies.map(()=>({key:"",limit:void 0,cost:0}))}slots(){let e=this.policies.filter(({holdsSlots:n})=>n);if(e.length===0)return;let t=Sn(this.policies,En(this.policies));if(this.store.open(t,this.prefix).renew===void 0)throw new u({code:"SLUICE_OPTION_CONFLICT",option:"store",expected:"a store whose ledgers have renew, for a policy with concurrent",received:this.store,fix:"Implement renew in the store, or use memoryStore() or Redis."});return new wt(Math.min(...e.map(({windowMs:n})=>n)))}answer(e,t){return S(e)?W(e,i=>gn(i,this.policies,t)):gn(e,this.policies,t)}};function xn(r){return r.some(S)?Promise.all(r).then(()=>{}):void 0}function Ea(r){return r.filter(({at:e,source:t},n)=>n===r.findIndex(i=>i.at===e&&i.source===t))}function Ni(r,e,t){return new u({code:"SLUICE_OPTION_CONFLICT",option:`${r}()`,expected:`a limiter with ${t}`,received:void 0,fix:`Call ${e}() instead: only the slots of acquire() are given back.`})}function Di(r){E("options",r,"the options of a limiter"),k("",r,I.limiter);let e=pr(r,I.policy);for(let t of e)t.assertStatic();return new xt(e,r,{onDecision:r.onDecision})}0&&(module.exports={createLimiter,redisStore});
