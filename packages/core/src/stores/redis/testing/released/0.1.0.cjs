var oc=Object.create;var pn=Object.defineProperty;var sc=Object.getOwnPropertyDescriptor;var ac=Object.getOwnPropertyNames;var dc=Object.getPrototypeOf,lc=Object.prototype.hasOwnProperty;var h=(n,e,t)=>()=>{if(t)throw t[0];try{return n&&(e=n(n=0)),e}catch(r){throw t=[r],r}};var cc=(n,e)=>()=>{try{return e||n((e={exports:{}}).exports,e),e.exports}catch(t){throw e=0,t}},yn=(n,e)=>{for(var t in e)pn(n,t,{get:e[t],enumerable:!0})},Vo=(n,e,t,r)=>{if(e&&typeof e=="object"||typeof e=="function")for(let i of ac(e))!lc.call(n,i)&&i!==t&&pn(n,i,{get:()=>e[i],enumerable:!(r=sc(e,i))||r.enumerable});return n};var Mt=(n,e,t)=>(t=n!=null?oc(dc(n)):{},Vo(e||!n||!n.__esModule?pn(t,"default",{value:n,enumerable:!0}):t,n)),uc=n=>Vo(pn({},"__esModule",{value:!0}),n);var zo=cc((Bh,qo)=>{"use strict";qo.exports=yc;var mc=require("http"),fc=typeof mc.ServerResponse.prototype.appendHeader=="function",hc=fc?vc:Sc;function pc(n,e){var t=!1;return function(i){var o=wc.apply(this,arguments);return t||(t=!0,e.call(this),typeof o[0]=="number"&&this.statusCode!==o[0]&&(o[0]=this.statusCode,o.length=1)),n.apply(this,o)}}function yc(n,e){if(!n)throw new TypeError("argument res is required");if(typeof e!="function")throw new TypeError("argument listener must be a function");n.writeHead=pc(n.writeHead,e)}function gc(n,e){if(e.length&&Array.isArray(e[0]))kc(n,e);else{if(e.length%2!==0)throw new TypeError("headers array is malformed");hc(n,e)}}function bc(n,e){for(var t=Object.keys(e),r=0;r<t.length;r++){var i=t[r];i&&n.setHeader(i,e[i])}}function wc(n){var e=arguments.length,t=e>1&&typeof arguments[1]=="string"?2:1,r=e>=t+1?arguments[t]:void 0;this.statusCode=n,Array.isArray(r)?gc(this,r):r&&bc(this,r);for(var i=new Array(Math.min(e,t)),o=0;o<i.length;o++)i[o]=arguments[o];return i}function kc(n,e){for(var t,r=0;r<e.length;r++)t=e[r][0],t&&n.setHeader(t,e[r][1])}function vc(n,e){for(var t=0;t<e.length;t+=2)n.removeHeader(e[t]);for(var r,i=0;i<e.length;i+=2)r=e[i],r&&n.appendHeader(r,e[i+1])}function Sc(n,e){for(var t,r=0;r<e.length;r+=2)t=e[r],t&&n.setHeader(t,e[r+1])}});function Oc(){let n=Jr;Jr=[];for(let e of n)e()}var jo,Xe,ti,Xo,ee,Yo,Zo,xc,Ye,Qo,Jo,ie,F,es,Fh,Ze,ni,At,Jr,gn,ts,ei,Mc,ns,K,rs,Qe,is,M=h(()=>{"use strict";jo=require("node:async_hooks"),Xe=require("node:crypto"),ti=Mt(require("node:diagnostics_channel"),1),Xo=Mt(require("node:http"),1),ee=require("node:timers"),Yo=Mt(require("node:timers/promises"),1),Zo=Mt(require("node:util"),1),xc=Mt(zo(),1),Ye=(n,e,t,r)=>(0,Xe.createHash)(n).update(e,t).digest(r),Qo=(n,e)=>(0,Xe.createHmac)("sha256",n).update(e).digest(),Jo=({buffer:n,byteOffset:e,byteLength:t},r)=>Buffer.from(n,e,t).toString(r),ie=()=>(0,Xe.randomInt)(2**32),F=(n,e)=>Zo.default.inspect(n,{depth:0,breakLength:1/0,maxStringLength:e}),es=(n,e)=>process.emitWarning(n,{type:"SluiceWarning",code:e}),Fh=Xo.default.METHODS,Ze=ti.default.channel,ni=ti.default.tracingChannel,At=n=>{(0,ee.setImmediate)(n)},Jr=[],gn=n=>{Jr.push(n)===1&&(0,ee.setImmediate)(Oc)};ts=n=>{let e=(0,ee.setImmediate)(n).unref();return e.constructor.name==="Immediate"?!0:((0,ee.clearImmediate)(e),!1)},ei=class extends jo.AsyncResource{hasRef(){return!1}},Mc=new ei("SluiceBackground"),ns=(n,e)=>Mc.runInAsyncScope(()=>{let t=(0,ee.setTimeout)(n,e).unref();return()=>(0,ee.clearTimeout)(t)}),K=!1,rs=n=>Yo.default.setTimeout(n),Qe=n=>n.unref(),is=n=>n.ref()});function os(n){switch(typeof n){case"undefined":return"undefined";case"string":return Ac(n);case"bigint":return`${n}n (bigint)`;case"number":return`${Object.is(n,-0)?"-0":n} (number)`;case"boolean":return`${n} (boolean)`;case"object":return n===null?"null":Cc(n);default:return`a ${typeof n}`}}function ri(n){return n.length<=24&&/^([+-]?[\d.,:/_-]*\d[\d.,:/_-]* ?([a-z]{1,12}|%)?)?$/i.test(n)}function Ac(n){if(ri(n))return`'${n}' (string)`;let[,e]=/^([a-z][a-z+]{1,15}:)\/\//i.exec(n)??[],t=`${n.length} ${n.length===1?"character":"characters"}`;return e===void 0?`text of ${t}`:`a URL (${e}) of ${t}`}function Cc(n){try{if(Array.isArray(n))return`an array of ${n.length} ${n.length===1?"entry":"entries"}`;let{name:e}=Object.getPrototypeOf(n).constructor;if(e!=="Object"&&/^\w{1,64}$/.test(e))return`an object of class ${e}`}catch{}return"an object"}var ii=h(()=>{"use strict"});var ss,as=h(()=>{"use strict";ss="https://sluicejs.github.io/sluice/errors"});function ye(n){return`(${n}, ${ss}#${n.toLowerCase()})`}var Ct=h(()=>{"use strict";as()});function Ec(n){let e=n.replace(/\s*\n\s*/g," ");return e.length>ds?`${e.slice(0,ds-3)}...`:e}var y,ds,A=h(()=>{"use strict";ii();Ct();y=class extends Error{constructor(t){let{code:r,option:i,expected:o,fix:s}=t,a="said"in t?Ec(t.said):os(t.received),d=a.replace(/\.$/,""),l=s.includes(o)?"Received":`Expected ${o}, received`;super(`${i}: ${s} ${t.reason??`${l} ${d}.`} ${ye(r)}`);this.name="SluiceError";this.code=r,this.option=i,this.expected=o,this.received=a,this.fix=s}},ds=240});function bn(n,e){return e.find(t=>{let r=Tc(n.toLowerCase(),t.toLowerCase());return r<=2&&r<t.length/3})}function Tc(n,e){let t=Array.from({length:e.length+1},(r,i)=>i);for(let r=1;r<=n.length;r+=1){let i=[r];for(let o=1;o<=e.length;o+=1){let s=t[o-1]+(n[r-1]===e[o-1]?0:1);i.push(Math.min(t[o]+1,i[o-1]+1,s))}t=i}return t[e.length]}var oi=h(()=>{"use strict"});function W(n,e,t,r){let i=typeof e=="number";if(i&&Number.isInteger(e)&&e>=t&&e<=r)return e;let o=`an integer from ${t} to ${r}`;throw new y({code:i?"SLUICE_OPTION_RANGE":"SLUICE_OPTION_TYPE",option:n,expected:o,received:e,fix:typeof e=="string"?"Convert the text: Number(process.env.LIMIT).":`Give ${n} as ${o}.`})}function si(n,e,t="from 0 to 1",r=`Give ${n} as a share: 0.1 is ten percent.`){if(typeof e=="number"&&e>=0&&e<=1&&(e>0||t==="from 0 to 1"))return e;throw new y({code:typeof e=="number"?"SLUICE_OPTION_RANGE":"SLUICE_OPTION_TYPE",option:n,expected:`a number ${t}`,received:e,fix:r})}function Je(n,e,t){if(t.includes(e))return e;let r=`one of ${t.map(a=>F(a)).join(", ")}`,i=bn(String(e),t.map(String)),o=t.find(a=>String(a)===i),s=`Write ${o===void 0?r:F(o)}.`;throw new y({code:"SLUICE_OPTION_VALUE",option:n,expected:r,received:e,fix:s})}function Te(n,e,t){if(typeof e=="function")return e;throw ai(n,e,`a function ${t}`)}function wn(n,e){if(typeof e=="boolean")return e;throw ai(n,e,"true or false","Write true or false, not text.")}function ls(n){let e=Te("clock",n,"() => integer ms since the epoch");return W("clock()",e(),0,864e13),e}function N(n,e,t){if(typeof e=="object"&&e!==null&&!Array.isArray(e))return e;throw ai(n,e,t,`Give ${n} as an object.`)}function ai(n,e,t,r=`Give ${n} as ${t}.`){return new y({code:"SLUICE_OPTION_TYPE",option:n,expected:t,received:e,fix:r})}var j=h(()=>{"use strict";M();A();oi()});function cs(n){return Math.max(1e12,Math.min(...n.map(({maxLimit:e})=>e)))}var T,I,$=h(()=>{"use strict";T=class{constructor(){this.a=0;this.b=0;this.c=0;this.log=void 0;this.held=void 0;this.blockedUntil=0;this.rebased=!1;this.admitted=!1;this.remaining=0;this.resetMs=0;this.retryAfterMs=0;this.effectiveMs=0;this.delayMs=0;this.counted=!1;this.terms=void 0;this.own=void 0;this.ownMs=1/0}},I=class{constructor(e,t=[e.limit,e.windowMs],r=e){this.params=e,this.units=r.limit,this.windowMs=r.windowMs,this.numbers=t}constants(e){return this.numbers}}});function Et(n,e){return n*e>x?Math.min(Math.floor(x/n),Math.floor(x/e)):0}function oe(n,e,t){let r=Math.floor(n/e);return r*t+Math.floor((n-r*e)*t/e)}function et(n,e,t){let r=Math.floor(n/t);return r*e+Math.ceil((n-r*t)*e/t)}function us(n,e,t){let r=oe(n,e,t);return et(r,e,t)<n?r+1:r}function di(n,e){for(;e!==0;)[n,e]=[e,n%e];return n}var x,tt=h(()=>{"use strict";x=Number.MAX_SAFE_INTEGER});var kn,li=h(()=>{"use strict";kn={constants:["units","windowMs"],enter:`
    do
      local number = (now - now % windowMs) / windowMs
      rebased = a > number
      if a < number then
        b = 0
      end
      a = number
    end`,decide:`
    do
      local room = units - b
      admitted = cost <= room and room > 0
    end`,commit:`
    b = b + cost`,settle:`
    do
      local number = math.floor((chargedAt < now and chargedAt or now) / windowMs)
      if number == a then
        b = math.min(9007199254740991, math.max(0, b + delta))
      end
    end`,full:`
    fullIn = b > 0 and (a + 1) * windowMs - now or 0`,more:`
    units = math.min(9007199254740991, units + granted)`,grantEnd:`
    ends = (a + 1) * windowMs`}});var nt,Tt,ci,ui=h(()=>{"use strict";$();tt();li();nt={enter(n,{windowMs:e},t){let r=Math.floor(t/e);n.rebased=n.a>r,n.a<r&&(n.b=0),n.a=r},room(n,{units:e}){return e-n.b},commit(n,e,t,r){n.b+=r},settle(n,{windowMs:e},t,r,i){Math.floor(Math.min(i,t)/e)===n.a&&(n.b=Math.min(x,Math.max(0,n.b+r)))},full(n,{windowMs:e},t){return n.b>0?(n.a+1)*e-t:0},more(n,e){n.units=Math.min(x,n.units+e)},grantEnd(n,{windowMs:e}){return(n.a+1)*e}},Tt=class extends I{constructor(){super(...arguments);this.algorithm=ci}decide(t,r,i){let o=this.enter(t,r),s=nt.room(t,this),a=i<=s&&s>0,d=a?s-i:s;t.admitted=a,t.remaining=Math.max(0,d),t.resetMs=d===this.units?0:o,t.effectiveMs=a||Math.max(i,1)<=this.units?o:1/0,t.retryAfterMs=a?0:t.effectiveMs,t.delayMs=0}commit(t,r,i){nt.commit(t,this,r,i)}settle(t,r,i,o){let s=this.enter(t,r);this.correct(t,r,i,o),t.remaining=Math.max(0,nt.room(t,this)),t.resetMs=t.b===0?0:s}grantEnd(t,r){return r+this.enter(t,r)}enter(t,r){return nt.enter(t,this,r),nt.grantEnd(t,this)-r}correct(t,r,i,o){nt.settle(t,this,r,i,o)}},ci={name:"fixed-window",options:{},maxLimit:x,keepsLog:!1,compile:n=>new Tt(n),lua:kn}});var vn,ms,mi=h(()=>{"use strict";vn={constants:["capacity","unit","rate","window","ticks"],enter:`
    do
      if c ~= unit then
        if c > 0 then
          local rest = a % c
          local parts = rest * unit > 9007199254740991 and unit or math.ceil(rest * unit / c)
          a = math.min(9007199254740991, (a - rest) / c * unit + parts)
        end
        c = unit
      end
      rebased = b > now
      local drained = now - b
      local start = now
      if ticks > 0 then
        local tick = tickAt(now, window, ticks)
        drained = tick - tickFrom(b, window, ticks)
        start = tickStart(tick, window, ticks)
      end
      if drained > 0 then
        a = a - drained * rate
        if a < 0 then
          a = 0
        end
      end
      if b < start or rebased then
        b = start
      end
    end`,decide:`
    do
      local free = capacity - a
      local room = (free - free % unit) / unit
      admitted = cost <= room and room > 0
    end`,commit:`
    a = a + cost * unit`,settle:`
    do
      local change = delta * unit
      if delta < 0 then
        local drained = math.max(0, ticks == 0 and now - chargedAt or tickAt(now, window, ticks) - tickAt(chargedAt, window, ticks))
        change = math.min(0, change + drained * rate)
      end
      a = math.min(9007199254740991, math.max(0, a + change))
    end`,full:`
    do
      local drained = math.ceil(a / rate)
      fullIn = (ticks == 0 or drained == 0) and drained or tickStart(tickAt(now, window, ticks) + drained, window, ticks) - now
    end`,keep:`
    do
      local twice = 2 * fullIn
      local least = window < 3600000 and window or 3600000
      keepFor = twice > least and twice or least
    end`},ms={constants:["capacity","unit","rate","window","ticks"],settle:`
    do
      local change = delta * unit
      if delta < 0 then
        local drained = math.max(0, ticks == 0 and now - chargedAt or tickAt(now, window, ticks) - tickAt(chargedAt, window, ticks))
        local level = a + drained * rate
        local left = math.floor((capacity - level) / unit)
        if remaining < 0 then
          if level + change > 0 then
            change = 0
          end
        elseif left ~= remaining then
          change = 0
        end
      end
      a = math.min(9007199254740991, math.max(0, a + change))
    end`}});function fs(n,e,t,r){return Math.max(0,r===0?e-n:oe(e,t,r)-oe(n,t,r))}function hs(n,e,t,r){return t===0||n===0?n:et(oe(r,e,t)+n,e,t)-r}var Rc,Re,Lc,rt,fi=h(()=>{"use strict";$();tt();Rc=36e5,Re={enter(n,{unit:e,rate:t,window:r,ticks:i},o){if(n.c!==e){if(n.c>0){let d=n.a-Math.floor(n.a/n.c)*n.c,l=d*e>x?e:Math.ceil(d*e/n.c);n.a=Math.min(x,(n.a-d)/n.c*e+l)}n.c=e}n.rebased=n.b>o;let s=o-n.b,a=o;if(i>0){let d=oe(o,r,i);s=d-us(n.b,r,i),a=et(d,r,i)}s>0&&(n.a-=s*t,n.a<0&&(n.a=0)),(n.b<a||n.rebased)&&(n.b=a)},room(n,{capacity:e,unit:t}){let r=e-n.a;return Math.floor(r/t)},commit(n,{unit:e},t,r){n.a+=r*e},settle(n,{unit:e,rate:t,window:r,ticks:i},o,s,a){let d=s*e;if(s<0){let l=fs(a,o,r,i);d=Math.min(0,d+l*t)}n.a=Math.min(x,Math.max(0,n.a+d))},full(n,{rate:e,window:t,ticks:r},i){let o=Math.ceil(n.a/e);return hs(o,t,r,i)},keep(n,{window:e},t){let r=2*t,i=Math.min(e,Rc);return Math.max(r,i)}},Lc={settle(n,{capacity:e,unit:t,rate:r,window:i,ticks:o},s,a,d,l){let c=a*t;if(a<0){let u=fs(d,s,i,o),m=n.a+u*r,f=Math.floor((e-m)/t);l<0?m+c>0&&(c=0):f!==l&&(c=0)}n.a=Math.min(x,Math.max(0,n.a+c))}};rt=class extends I{constructor(e,t,r,i,o){let{limit:s,windowMs:a}=t,d=i??0,l=Math.ceil(d/a*s),c=Math.max(r+l,1),u=Math.max(s,1),m=di(u,a),f=c*(a/m)<=x?0:Et(c,a),p=f===0?m:di(u,f),g=(f||a)/p,w=u/p,v=f===0?d:oe(d,a,f),S=s===0?0:r*g+v*w,k=[S,g,w,a];f>0&&k.push(f),super(t,k,o),this.algorithm=e,this.window=a,this.queued=i!==void 0,this.ticks=f,this.unit=g,this.rate=w,this.capacity=S}decide(e,t,r){Re.enter(e,this,t);let i=Re.room(e,this),o=r<=i&&i>0,s=e.a,a=Math.max(r,1)*this.unit,d=o?s+r*this.unit:s,l=Math.max(0,o?i-r:i);e.admitted=o,e.remaining=l,e.resetMs=this.after(t,d),e.delayMs=o&&this.queued?this.after(t,s):0,o?l>0?e.effectiveMs=this.after(t,l*this.unit):e.effectiveMs=this.after(t,d+this.unit-this.capacity):e.effectiveMs=a>this.capacity?1/0:this.after(t,s-this.capacity+a),e.retryAfterMs=o?0:e.effectiveMs}commit(e,t,r){Re.commit(e,this,t,r)}settle(e,t,r,i,o,s,a=-1){Re.enter(e,this,t),this.queued?Lc.settle(e,this,t,r,i,a):Re.settle(e,this,t,r,i),e.remaining=Math.max(0,Re.room(e,this)),e.resetMs=Re.full(e,this,t)}keepMs({resetMs:e}){return this.params.varies?Math.max(e,this.window):e}after(e,t){return hs(Math.ceil(t/this.rate),this.window,this.ticks,e)}}});var ps,hi,ys=h(()=>{"use strict";mi();fi();ps=1e3,hi={name:"leaky-bucket",options:{maxDelay:ps},maxLimit:1e12,keepsLog:!1,drains:!0,compile:n=>new rt(hi,n,1,n.maxDelayMs??ps),lua:{...vn,...ms,queues:!0}}});var Sn,gs=h(()=>{"use strict";Sn=class{constructor(){this.times=[];this.costs=[];this.head=0;this.tail=0;this.total=0}get length(){return this.tail-this.head}time(e){return this.times[this.head+e]}cost(e){return this.costs[this.head+e]}push(e,t){this.total+=t,this.makeRoom(),this.times[this.tail]=e,this.costs[this.tail]=t,this.tail+=1}add(e,t){let r=this.endOf(e);r>this.head&&this.times[r-1]===e?(this.total+=t,this.costs[r-1]=this.costs[r-1]+t):r===this.tail?this.push(e,t):(this.total+=t,this.times.splice(r,0,e),this.costs.splice(r,0,t),this.tail+=1)}takeBack(e,t){let r=this.endOf(e),i=r;for(;i>this.head&&t>0;){let o=this.costs[i-1],s=Math.min(t,o);this.total-=s,t-=s,s<o?this.costs[i-1]=o-s:i-=1}this.times.splice(i,r-i),this.costs.splice(i,r-i),this.tail-=r-i}dropUntil(e){for(;this.head<this.tail&&this.times[this.head]<=e;)this.total-=this.costs[this.head],this.head+=1;this.head===this.tail&&this.startAfresh()}clampTo(e){for(let t=this.tail-1;t>=this.head&&this.times[t]>e;t-=1)this.times[t]=e}endOf(e){if(this.length>0&&this.times[this.tail-1]<=e)return this.tail;let t=this.head,r=this.tail;for(;t<r;){let i=t+r>>>1;this.times[i]<=e?t=i+1:r=i}return t}startAfresh(){this.head=this.tail=0,!(this.times.length<=32)&&(this.times.length=0,this.costs.length=0)}makeRoom(){let{head:e,length:t}=this;this.tail<this.times.length||t*2>this.times.length||(this.times.copyWithin(0,e,this.tail),this.costs.copyWithin(0,e,this.tail),this.tail=t,this.head=0)}}});var pi,bs,Pc,Ic,ws,ks=h(()=>{"use strict";pi=1e4,bs=256,Pc=64,Ic=`
local function logBytes(key, index, count)
  local first = head + index * ${16}
  return redis.call('GETRANGE', key, first, first + count * ${16} - 1)
end

-- Time and cost of an entry.
local function logRead(key, index)
  return struct.unpack('<dd', logBytes(key, index, 1))
end

local function logWrite(key, index, time, cost)
  redis.call('SETRANGE', key, head + index * ${16}, struct.pack('<dd', time, cost))
end

-- Passes over the entries from number from, before to, that are not later than horizon, until
-- they hold units. Returns the number behind them, what they hold and, if that is enough, the
-- time of the last one. It reads more at a time the further it comes, since mostly a few are all that
-- is needed, and counts four at a time, which takes two thirds of the time.
local function logPass(key, from, to, horizon, units)
  local held, size = 0, 4
  while from < to do
    local count = math.min(size, to - from)
    local bytes, last = logBytes(key, from, count), count * ${16}
    local at, time, c1, c2, c3, c4, _ = 1
    while at + ${64} <= last + 1 do
      _, c1, _, c2, _, c3, time, c4 = struct.unpack('<dddddddd', bytes, at)
      c4 = held + c1 + c2 + c3 + c4
      if time > horizon or c4 >= units then break end
      held, at = c4, at + ${64}
    end
    from = from + (at - 1) / ${16}
    while at < last do
      time, c1, at = struct.unpack('<dd', bytes, at)
      if time > horizon then return from, held end
      from, held = from + 1, held + c1
      if held >= units then return from, held, time end
    end
    size = math.min(4 * size, ${bs})
  end
  return from, held
end

-- Steps over the expired entries: number of the first live one, units in the live ones.
local function logTrim(key, horizon, a, b, c)
  local first, gone = logPass(key, a, b, horizon, math.huge)
  return first, c - gone
end

-- Number of the last entry at or before time, a - 1 if there is none.
local function logLastUntil(key, time, a, b)
  local low, high = a, b
  while low < high do
    local middle = math.floor((low + high) / 2)
    if logRead(key, middle) <= time then low = middle + 1 else high = middle end
  end
  return low - 1
end

-- Moves entries from after now, where the clock has stepped back, to now: into one entry, since
-- they leave together.
local function logClamp(key, now, a, b, c)
  if a == b or logRead(key, b - 1) <= now then return b end
  local first = logLastUntil(key, now, a, b) + 1
  local isLess = first - a < b - first
  local _, units = logPass(key, isLess and a or first, isLess and first or b, math.huge, math.huge)
  logWrite(key, first, now, isLess and c - units or units)
  return first + 1
end

-- Rewrites the log without its dropped entries once they are the larger part.
local function logCompact(key, a, b)
  if a < ${Pc} or a * 2 < b then return a, b end
  local first = head + a * ${16}
  local header = redis.call('GETRANGE', key, 0, head - 1)
  local live = redis.call('GETRANGE', key, first, first + (b - a) * ${16} - 1)
  redis.call('SET', key, header .. live, 'KEEPTTL')
  return 0, b - a
end

-- Takes out the entries from number first to last.
local function logRemove(key, first, last, a, b)
  if first > last then return a, b end
  if first == a then return last + 1, b end
  local behind = head + (last + 1) * ${16}
  local later = redis.call('GETRANGE', key, behind, head + b * ${16} - 1)
  if last + 1 < b then redis.call('SETRANGE', key, head + first * ${16}, later) end
  return a, b - (last - first + 1)
end

-- Takes units from the entries up to number last, latest first, as far as they hold them.
local function logTakeBack(key, last, units, a, b, c)
  local index, size = last, 4
  while index >= a and units > 0 do
    local count = math.min(size, index - a + 1)
    local bytes = logBytes(key, index - count + 1, count)
    for at = (count - 1) * ${16} + 1, 1, -${16} do
      local time, cost = struct.unpack('<dd', bytes, at)
      if cost > units then
        logWrite(key, index, time, cost - units)
        units, c = 0, c - units
      end
      if units == 0 then break end
      units, c, index = units - cost, c - cost, index - 1
    end
    size = math.min(4 * size, ${bs})
  end
  a, b = logRemove(key, index + 1, last, a, b)
  return a, b, c
end

-- Adds units at the time at, behind entry number index; later entries move up by one.
local function logInsert(key, index, at, units, a, b)
  if index >= a then
    local time, cost = logRead(key, index)
    if time == at then
      logWrite(key, index, at, cost + units)
      return b
    end
  end
  local first = head + (index + 1) * ${16}
  local later = redis.call('GETRANGE', key, first, head + b * ${16} - 1)
  logWrite(key, index + 1, at, units)
  if index + 1 < b then redis.call('SETRANGE', key, first + ${16}, later) end
  return b + 1
end

-- ms until the oldest entries that hold units have left, counting added units of now
local function logWait(key, window, now, a, b, units, added)
  local _, freed, time = logPass(key, a, b, math.huge, math.max(units, 1))
  if time then return math.min(time, now) + window - now end
  return freed + added >= units and window or -1
end

-- ms until the last entry leaves
local function logReset(key, window, now, a, b, c)
  if c == 0 or a == b then return 0 end
  return math.min((logRead(key, b - 1)), now) + window - now
end
`,ws={constants:["limit","window"],decide:`
    local last = a < b and logRead(key, b - 1) or 0
    rebased = last > now
    a, c = logTrim(key, now - window, a, b, c)
    admitted = cost <= limit - c and c < limit`,commit:`
    b = logClamp(key, now, a, b, c)
    if cost > 0 then
      local time, last
      if a < b then time, last = logRead(key, b - 1) end
      if time == now then
        logWrite(key, b - 1, now, last + cost)
      else
        a, b = logCompact(key, a, b)
        logWrite(key, b, now, cost)
        b = b + 1
      end
      c = c + cost
    end
    fullIn = window`,settle:`
    b = logClamp(key, now, a, b, c)
    a, c = logTrim(key, now - window, a, b, c)
    local at = math.min(chargedAt, now)
    if at > now - window then
      local last = logLastUntil(key, at, a, b)
      if delta < 0 then
        a, b, c = logTakeBack(key, last, -delta, a, b, c)
      elseif delta > 0 then
        b, c = logInsert(key, last, at, delta, a, b), c + delta
      end
    end
    fullIn = logReset(key, window, now, a, b, c)`,keep:`
    keepFor = 2 * window`,more:`
    limit = math.min(${pi}, limit + granted)`,grantEnd:`
    ends = now + window`,entries:{show:`
      local room = limit - c
      remaining = math.max(0, room)
      if admitted then
        remaining = room - cost
        wait = logWait(key, window, now, a, b, remaining > 0 and 0 or 1, cost)
      else
        local units = math.max(cost, 1)
        wait = units > limit and -1 or logWait(key, window, now, a, b, units - room, 0)
      end
      if admitted and cost > 0 then
        resetIn = window
      else
        resetIn = logReset(key, window, now, a, b, c)
      end`,functions:Ic}}});var yi,gi,vs=h(()=>{"use strict";$();gs();ks();yi=class extends I{constructor(){super(...arguments);this.algorithm=gi}decide(t,r,i){let{log:o}=t,s=o===void 0?0:this.used(o,r),a=o===void 0||o.length===0?void 0:o.time(o.length-1),d=this.units-s,l=i<=d&&d>0;t.admitted=l,t.rebased=a!==void 0&&a>r,t.remaining=Math.max(0,l?d-i:d),t.resetMs=this.reset(l?i:0,s,a,r),t.effectiveMs=l?this.wait(o,r,t.remaining>0?0:1,i):this.waitOfRefusal(o,r,Math.max(i,1),d),t.retryAfterMs=l?0:t.effectiveMs,t.delayMs=0}commit(t,r,i){t.log===void 0&&(t.log=new Sn),t.log.clampTo(r),t.log.dropUntil(r-this.windowMs),i>0&&t.log.add(r,i)}settle(t,r,i,o){this.commit(t,r,0);let s=t.log,a=Math.min(o,r);a>r-this.windowMs&&(i>0?s.add(a,i):s.takeBack(a,-i));let d=this.used(s,r);t.remaining=Math.max(0,this.units-d),t.resetMs=this.reset(0,d,s.length>0?s.time(s.length-1):void 0,r)}grantEnd(t,r){return r+this.windowMs}used(t,r){let i=t.total;for(let o=0;o<t.length&&t.time(o)<=r-this.windowMs;o+=1)i-=t.cost(o);return i}reset(t,r,i,o){return t>0?this.windowMs:r===0||i===void 0?0:Math.min(i,o)+this.windowMs-o}waitOfRefusal(t,r,i,o){return i>this.units?1/0:this.wait(t,r,i-o,0)}wait(t,r,i,o){let s=0;for(let a=0;t!==void 0&&a<t.length;a+=1){let d=Math.min(t.time(a),r);if(!(d<=r-this.windowMs)&&(s+=t.cost(a),s>0&&s>=i))return d+this.windowMs-r}return s+o>=i?this.windowMs:1/0}},gi={name:"sliding-log",options:{},maxLimit:pi,keepsLog:!0,compile:n=>new yi(n),lua:ws}});var Ss,xs=h(()=>{"use strict";Ss={constants:["units","windowMs","ticks"],enter:`
    do
      local number = (now - now % windowMs) / windowMs
      rebased = a > number
      if a ~= number then
        if rebased then
          b = math.min(9007199254740991, b + c)
        elseif a == number - 1 then
          b = c
        else
          b = 0
        end
        c = 0
        a = number
      end
    end`,decide:`
    do
      local room
      if b == 0 then
        room = units - c
      else
        local inside = (a + 1) * windowMs - 1 - now
        local length = windowMs
        if ticks > 0 then
          inside = tickAt(inside, windowMs, ticks)
          length = ticks
        end
        local previous = b
        if previous > units then
          previous = math.min(previous, math.floor(9007199254740991 / length))
        end
        local counted = previous * inside / length
        room = units - c - (counted - counted % 1)
      end
      admitted = cost <= room and room > 0
    end`,commit:`
    c = c + cost`,settle:`
    do
      local number = (chargedAt - chargedAt % windowMs) / windowMs
      if number == a then
        c = math.min(9007199254740991, math.max(0, c + delta))
      elseif number == a - 1 or number > a then
        b = math.min(9007199254740991, math.max(0, b + delta))
      end
    end`,full:`
    if c > 0 then
      fullIn = (a + 2) * windowMs - now
    else
      fullIn = b > 0 and (a + 1) * windowMs - now or 0
    end`,more:`
    units = math.min(1000000000000, units + granted)
    ticks = units * windowMs > 9007199254740991 and math.min(math.floor(9007199254740991 / units), math.floor(9007199254740991 / windowMs)) or 0`,grantEnd:`
    ends = now + windowMs`}});var Le,bi,wi,Os=h(()=>{"use strict";$();tt();xs();Le={enter(n,{windowMs:e},t){let r=Math.floor(t/e);n.rebased=n.a>r,n.a!==r&&(n.rebased?n.b=Math.min(x,n.b+n.c):n.a===r-1?n.b=n.c:n.b=0,n.c=0,n.a=r)},room(n,{units:e,windowMs:t,ticks:r},i){if(n.b===0)return e-n.c;let o=(n.a+1)*t-1-i,s=t;r>0&&(o=oe(o,t,r),s=r);let a=n.b;a>e&&(a=Math.min(a,Math.floor(x/s)));let d=a*o/s;return e-n.c-Math.floor(d)},commit(n,e,t,r){n.c+=r},settle(n,{windowMs:e},t,r,i){let o=Math.floor(i/e);o===n.a?n.c=Math.min(x,Math.max(0,n.c+r)):(o===n.a-1||o>n.a)&&(n.b=Math.min(x,Math.max(0,n.b+r)))},full(n,{windowMs:e},t){return n.c>0?(n.a+2)*e-t:n.b>0?(n.a+1)*e-t:0},more(n,e){n.units=Math.min(1e12,n.units+e),n.ticks=Et(n.units,n.windowMs)},grantEnd(n,{windowMs:e},t){return t+e}},bi=class extends I{constructor(t){let{limit:r,windowMs:i}=t,o=Et(r,i);super(t,o===0?void 0:[r,i,o]);this.algorithm=wi;this.ticks=o}decide(t,r,i){Le.enter(t,this,r);let o=Le.room(t,this,r),s=i<=o&&o>0,a=Math.max(0,s?o-i:o),d=s?t.c+i:t.c,l=r-t.a*this.windowMs;t.admitted=s,t.remaining=a;let c=d>0?this.windowMs+this.fadedBy(d,0):this.fadedBy(t.b,0);t.resetMs=Math.max(0,c-l),t.effectiveMs=s&&a>0?this.windowMs-l:this.wait(t.b,d,l,s?1:Math.max(i,1)),t.retryAfterMs=s?0:t.effectiveMs,t.delayMs=0}commit(t,r,i){Le.commit(t,this,r,i)}settle(t,r,i,o){Le.enter(t,this,r),Le.settle(t,this,r,i,o),this.decide(t,r,0)}keepMs(t,r){return Le.full(t,this,r)}grantEnd(t,r){return Le.grantEnd(t,this,r)}wait(t,r,i,o){if(o>this.units)return 1/0;let s=this.units-r-o;return s>=0&&t>0?this.fadedBy(t,s)-i:this.windowMs-i+this.fadedBy(r,this.units-o)}fadedBy(t,r){if(t<=r)return 0;let{windowMs:i}=this,o=this.ticks||i,s=t>this.units?Math.min(t,Math.floor(x/o)):t,a=Math.ceil((r+1)*o/s);return i-(this.ticks===0?a:et(a,i,o))}},wi={name:"sliding-window",options:{},maxLimit:1e12,keepsLog:!1,compile:n=>new bi(n),lua:Ss}});var ki,Ms=h(()=>{"use strict";mi();fi();ki={name:"token-bucket",options:{burst:"limit"},maxLimit:1e12,keepsLog:!1,drains:!0,compile(n){let{limit:e,windowMs:t}=n,r=e===0?0:n.burst??e,i=r===e?t:Math.ceil(r*t/e);return new rt(ki,n,r,void 0,{limit:r,windowMs:i})},lua:vn}});var As,Cs=h(()=>{"use strict";As={constants:["units","windowMs","bansMs1","bansMs2","bansMs3","bansMs4","bansMs5","bansMs6","bansMs7","bansMs8","bansMs9","bansMs10"],enter:`
    do
      local isBan = a > 0 and a % 128 == 0
      local last = isBan and b or c
      rebased = now < last
      if rebased then
        c = isBan and now + c - b or now
        b = b < now and b or now
      end
      if now - c >= windowMs then
        a = 0
        b = 0
        c = 0
      end
    end`,decide:`
    do
      local room = a > 0 and a % 128 == 0 and now < c and 0 or 1
      admitted = cost <= room and room > 0
    end`,commit:`
    if cost > 0 then
      local count = a % 128
      local bans = (a - count) / 128
      if count == 0 or now - b >= windowMs then
        count = 0
        b = now
      end
      count = count + 1
      c = now
      if count >= units then
        count = 0
        bans = math.min(bans + 1, 10)
        b = now
        c = now + ({ bansMs1, bansMs2, bansMs3, bansMs4, bansMs5, bansMs6, bansMs7, bansMs8, bansMs9, bansMs10 })[bans]
      end
      a = bans * 128 + count
    end`,full:`
    fullIn = a == 0 and 0 or c + windowMs - now`}});function On(n){return n-Math.floor(n/Mn)*Mn}var Si,Rt,Mn,xn,vi,Pe,xi=h(()=>{"use strict";$();Cs();Si=100,Rt=10,Mn=128,xn={enter(n,{windowMs:e},t){let r=n.a>0&&On(n.a)===0,i=r?n.b:n.c;n.rebased=t<i,n.rebased&&(n.c=r?t+n.c-n.b:t,n.b=Math.min(n.b,t)),t-n.c>=e&&(n.a=0,n.b=0,n.c=0)},room(n,e,t){return n.a>0&&On(n.a)===0&&t<n.c?0:1},commit(n,{units:e,windowMs:t,bansMs:r},i,o){if(o>0){let s=On(n.a),a=(n.a-s)/Mn;(s===0||i-n.b>=t)&&(s=0,n.b=i),s+=1,n.c=i,s>=e&&(s=0,a=Math.min(a+1,Rt),n.b=i,n.c=i+r[a-1]),n.a=a*Mn+s}},full(n,{windowMs:e},t){return n.a===0?0:n.c+e-t}};vi=class extends I{constructor(t){let{limit:r,windowMs:i,bansMs:o=[]}=t,s=Array.from({length:Rt},(a,d)=>o[d]??o.at(-1));super(t,[r,i,...s]);this.algorithm=Pe;this.bansMs=s}decide(t,r){xn.enter(t,this,r),t.counted=!1,this.show(t,r)}commit(t,r,i){i!==0&&(xn.commit(t,this,r,i),t.counted=!0,this.show(t,r))}settle(t,r){this.decide(t,r)}show(t,r){let i=xn.room(t,this,r),o=i===0?t.c-r:0,s=r-t.b>=this.windowMs?0:On(t.a);t.admitted=i>0,t.remaining=i>0?Math.max(0,this.units-s):0,t.resetMs=xn.full(t,this,r),t.retryAfterMs=o,t.effectiveMs=o,t.delayMs=0}},Pe={name:"ban",options:{},maxLimit:Si,keepsLog:!1,compile:n=>new vi(n),lua:As}});var it,Oi=h(()=>{"use strict";it=class n{constructor(e,t=0,r){this.length=0;this.width=3+e,this.clock=t,this.numbers=r??new Float64Array(2*this.width)}static from(e,t,r){let i=new n(e,t,r);return i.length=Math.floor(r.length/(3+e)),i}get extras(){return this.width-3}all(){return this.numbers.subarray(0,this.length*this.width)}until(e){return this.numbers[e*this.width]}slot(e){return this.numbers[e*this.width+1]}extra(e,t){return this.numbers[e*this.width+3+t]}endedAt(e){return this.length===0||this.until(0)>e?0:this.placeOf(e,1/0)}lastEnd(e){if(this.clock<=e)return this.length===0?e:Math.max(e,this.until(this.length-1));let t=e;for(let r=0;r<this.length;r+=1)t=Math.max(t,this.endAsOf(r,e));return t}count(e,t){let r=0;for(let i=0;i<this.length;i+=1)this.extra(i,e)===t&&(r+=1);return r}behind(e){return n.from(this.extras,this.clock,this.all().slice(e*this.width))}dropEnded(e){let t=this.endedAt(e);t!==0&&(this.numbers.copyWithin(0,t*this.width,this.length*this.width),this.shorten(this.length-t))}holdAsOf(e){if(this.clock<=e)return;let{width:t,length:r}=this,i=this.all().slice();this.clock=e,this.length=0;for(let o=0;o<r;o+=1){let[s=0,a=0,d=0,...l]=i.subarray(o*t,(o+1)*t);this.add(Math.min(s-d,e),a,d,l)}}add(e,t,r,i=[]){let{width:o}=this,s=e+r;(this.length+1)*o>this.numbers.length&&this.grow();let a=this.placeOf(s,t)*o;this.numbers.copyWithin(a+o,a,this.length*o),this.numbers.set([s,t,r,...i],a),this.length+=1,e>this.clock&&(this.clock=e)}take(e){let t=new Map,r=e.length===1?void 0:new Set(e),{width:i,length:o}=this,[s,a]=[0,0];for(let d=0;d<=o;d+=1){let l=this.slot(d);if(!(d<o&&!(r===void 0?l===e[0]:r.has(l)))){if(d<o&&!t.has(l)){let c=this.numbers.subarray(d*i+3,(d+1)*i);t.set(l,Array.from(c))}s<a&&this.numbers.copyWithin(s*i,a*i,d*i),s+=d-a,a=d+1}}return this.shorten(s),t}placeOf(e,t){let[r,i]=[0,this.length];for(;r<i;){let o=r+i>>>1,s=this.until(o);s<e||s===e&&this.slot(o)<t?r=o+1:i=o}return r}endAsOf(e,t){let r=this.numbers[e*this.width+2];return Math.min(this.until(e),t+r)}shorten(e){let{width:t,numbers:r}=this;this.length=e,e===0&&r.length>32*t&&(this.numbers=new Float64Array(2*t))}grow(){let{numbers:e,width:t}=this;this.numbers=new Float64Array(2*Math.max(e.length,2*t)),this.numbers.set(e)}}});var Lt,Mi,Es,An,Pt=h(()=>{"use strict";Lt="	held",Mi=.000244140625,Es=16,An=`
local function heldKey(key) return key .. '${Lt}' end

-- When something was held last, ms; nil if nothing is held.
local function heldClock(held)
  local clock = redis.call('ZSCORE', held, 'clock')
  return clock and clock - ${4503599627370496} or nil
end

-- How many end later than a time.
local function heldAfter(held, time)
  return redis.call('ZCOUNT', held, time + 1, ${4503599627370496-1})
end

-- The entries that have ended at now, each followed by when, the first ones first. They are read once: a thousand
-- take long.
local knownEnded = {}
local function heldEnded(held, now)
  local ended = knownEnded[held]
  if not ended then
    ended = redis.call('ZRANGE', held, 1, now, 'BYSCORE', 'LIMIT', 0, 1000, 'WITHSCORES')
    knownEnded[held] = ended
  end
  return ended
end

-- When the last entry ends, ms; now if there is none. After the clock has stepped back, each is held as of now.
local function heldLast(held, now, clock)
  if not clock or clock <= now then
    local last = redis.call('ZRANGE', held, ${4503599627370496-1}, now + 1, 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')
    return last[2] and last[2] + 0 or now
  end
  local all, last = redis.call('ZRANGE', held, now + 1, ${4503599627370496-1}, 'BYSCORE', 'WITHSCORES'), now
  for i = 1, #all, 2 do
    last = math.max(last, math.min(all[i + 1], now + struct.unpack('<d', all[i], 9)))
  end
  return last
end

local function heldOwner(entry) return #entry > ${Es} and string.sub(entry, -8) or nil end

-- How many entries an owner has.
local function heldCount(held, owner)
  return (redis.call('ZSCORE', held, struct.pack('<d', owner)) or 0) / ${Mi}
end

-- Takes out entries, each of which is followed by something else.
local function heldDrop(held, entries)
  local gone, owners = {}, {}
  knownEnded[held] = nil
  for i = 1, #entries, 2 do
    local entry = entries[i]
    gone[i], gone[i + 1] = entry, entry .. '.'
    local owner = heldOwner(entry)
    if owner then owners[owner] = (owners[owner] or 0) - ${Mi} end
  end
  if #gone > 0 then redis.call('ZREM', held, unpack(gone)) end
  for owner, change in pairs(owners) do
    if redis.call('ZADD', held, 'INCR', change, owner) == '0' then redis.call('ZREM', held, owner) end
  end
end

-- Holds an entry from at on.
local function heldAdd(held, at, slot, hold, extras)
  local entry = struct.pack('>d', slot) .. struct.pack('<d', hold) .. extras
  local added = redis.call('ZADD', held, 'GT', at + hold, entry, -slot, entry .. '.', at + ${4503599627370496}, 'clock')
  local owner = heldOwner(entry)
  -- One that is sent twice within a millisecond is there already.
  if owner and added > 1 then redis.call('ZADD', held, 'INCR', ${Mi}, owner) end
end

-- Takes out the entry of a slot. Returns what its step has added, or nil.
local function heldTake(held, slot)
  local found, entries = redis.call('ZRANGE', held, -slot, -slot, 'BYSCORE'), {}
  for i, entry in ipairs(found) do entries[2 * i - 1], entries[2 * i] = string.sub(entry, 1, -2), '' end
  if #found > 0 then heldDrop(held, entries) end
  return entries[1] and string.sub(entries[1], ${Es+1})
end

-- Holds those of these slots that are held anew, from now on. Returns the others.
local function heldRenew(held, slots, now, hold)
  local missing, again = {}, {}
  local length = struct.pack('<d', hold)
  for _, slot in ipairs(slots) do
    local found = redis.call('ZRANGE', held, -slot, -slot, 'BYSCORE')[1]
    if not found then
      missing[#missing + 1] = slot
    elseif string.sub(found, 9, 16) == length then
      again[#again + 1] = now + hold
      again[#again + 1] = string.sub(found, 1, -2)
    else
      heldAdd(held, now, slot, hold, heldTake(held, slot))
    end
  end
  again[#again + 1] = now + ${4503599627370496}
  again[#again + 1] = 'clock'
  redis.call('ZADD', held, unpack(again))
  return missing
end

-- Drops what has ended at now. After the clock has stepped back, the others are held as of now.
local function heldMove(held, now, clock, ended)
  heldDrop(held, ended)
  if clock <= now then return end
  local all, moved = redis.call('ZRANGE', held, now + 1, ${4503599627370496-1}, 'BYSCORE', 'WITHSCORES'), {}
  for i = 1, #all, 2 do
    local latest = now + struct.unpack('<d', all[i], 9)
    if all[i + 1] + 0 > latest then
      moved[#moved + 1] = latest
      moved[#moved + 1] = all[i]
    end
  end
  moved[#moved + 1] = now + ${4503599627370496}
  moved[#moved + 1] = 'clock'
  redis.call('ZADD', held, unpack(moved))
end
`});var te,Rs,Ls,Ts,Ps,Cn=h(()=>{"use strict";Pt();te=1e3,Rs=`
    local held = heldKey(key)
    local clock = a > 0 and heldClock(held)
    if clock then heldMove(held, now, clock, heldEnded(held, now)) elseif a == 0 then redis.call('DEL', held) end`,Ls=`
    a, fullIn = 1, heldLast(held, now) - now`,Ts=n=>`
    ${Rs}
    if ${n} ~= 0 and slot > 0 then
      if clock then heldTake(held, slot) end
      if ${n} > 0 then heldAdd(held, now, slot, hold, '') end
    end
    ${Ls}`,Ps={constants:["limit","hold"],onlyLimitIsOwn:!0,decide:`
    local held = heldKey(key)
    local clock = a > 0 and heldClock(held)
    local room = limit - (clock and heldAfter(held, now) or 0)
    rebased = clock and clock > now
    admitted = cost <= room and room > 0`,commit:Ts("cost"),settle:Ts("delta"),keep:`
    keepFor = math.max(fullIn, 2 * hold)`,entries:{show:`
      local held = heldKey(key)
      local clock = a > 0 and heldClock(held)
      local room = limit - (clock and heldAfter(held, now) or 0)
      remaining = math.max(0, admitted and room - cost or room)
      wait = math.max(cost, 1) > limit and -1 or ${te}
      resetIn = clock and heldLast(held, now, clock) - now or 0
      if admitted and cost > 0 then resetIn = math.max(hold, resetIn) end`,renew:`
      ${Rs}
      for _, slot in ipairs(heldRenew(held, slots, now, hold)) do heldAdd(held, now, slot, hold, '') end
      ${Ls}`,functions:An}}});function Is(n,e){return n===0||e===void 0?[]:[e]}var $c,Ai,Ie,Ci=h(()=>{"use strict";$();Oi();Cn();$c=1e3,Ai=class extends I{constructor(){super(...arguments);this.algorithm=Ie}decide(t,r,i){let{held:o}=t,s=this.units-(o===void 0?0:o.length-o.endedAt(r)),a=o===void 0?0:o.lastEnd(r)-r,d=i<=s&&s>0;t.admitted=d,t.rebased=o!==void 0&&o.clock>r,t.remaining=Math.max(0,d?s-i:s),t.resetMs=d&&i>0?Math.max(this.windowMs,a):a,t.effectiveMs=Math.max(i,1)>this.units?1/0:te,t.retryAfterMs=d?0:t.effectiveMs,t.delayMs=0}commit(t,r,i,o){this.replace(t,r,Is(i,o),!0)}settle(t,r,i,o,s){this.show(t,r,this.replace(t,r,Is(i,s),i>0))}renew(t,r,i){this.show(t,r,this.replace(t,r,i,!0))}replace(t,r,i,o){t.held??=new it(0);let{held:s}=t;if(s.dropEnded(r),s.holdAsOf(r),s.take(i),o)for(let a of new Set(i))s.add(r,a,this.windowMs);return s}show(t,r,i){t.remaining=Math.max(0,this.units-i.length),t.resetMs=i.lastEnd(r)-r}};Ie={name:"concurrency",options:{},maxLimit:$c,keepsLog:!0,holdsSlots:!0,compile:n=>new Ai(n),lua:Ps}});function $s(n,e=!1){let t=n.constants.at(-1)==="ticks",r=t?n.constants.slice(0,-1):n.constants,i=`
    local held, ended = heldKey(key), {}
    local clock = livesUntil > 0 and heldClock(held)
    if clock then
      ended = heldEnded(held, now)
      for i = 1, #ended, 2 do
        local chargedAt, units = struct.unpack('<dd', ended[i], 17)
        local delta = -units
        ${e?"local now = ended[i + 1] + 0":""}
        ${n.settle??""}
      end
    end`;return{...n,constants:[...r,"hold",...t?["ticks"]:[]],decide:`
    local isFull
    do
      ${i}
      if clock then
        rebased = rebased or #ended > 0 or clock > now
        local inUse = heldAfter(held, 0) - #ended / 2
        if inUse >= ${ot/2} then
          local own = heldCount(held, owner)
          for i = 1, #ended, 2 do
            if struct.unpack('<d', ended[i], 33) == owner then own = own - 1 end
          end
          isFull = own >= ${ot} - inUse
        end
      end
    end
    if isFull then
      admitted, raw = false, pack('<dddd', -1, ${te}, ${te}, 1)
    else
      raw = pack('<dddd', a, b, c, 0)
      ${n.decide}
    end`,commit:`
    ${n.commit}
    local held = heldKey(key)
    local clock = livesUntil > 0 and heldClock(held)
    if clock then heldMove(held, now, clock, heldEnded(held, now)) end
    if cost > 0 and slot > 0 then
      if livesUntil == 0 then redis.call('DEL', held) end
      heldAdd(held, now, slot, hold, pack('<ddd', now, cost, owner))
    end
    local last = heldLast(held, now)`,settle:`
    ${i}
    local delta, chargedAt = delta, chargedAt
    if clock then heldMove(held, now, clock, ended) end
    if reserved > 0 then
      local taken = clock and heldTake(held, slot)
      if taken then
        chargedAt = delta < 0 and struct.unpack('<d', taken) or now
      else
        delta, chargedAt = reserved + delta, now
      end
    end
    raw = pack('<dddd', a, b, c, delta)
    ${n.settle??""}
    local last = clock and heldLast(held, now) or now`,full:`
    ${n.full??""}
    fullIn = math.max(fullIn, last - now)`,entries:{functions:An,renew:`
      ${i}
      if clock then
        heldMove(held, now, clock, ended)
        heldRenew(held, slots, now, hold)
      end
      local last = clock and heldLast(held, now) or now`,reserves:!0}}}var ot,_s=h(()=>{"use strict";Cn();Pt();ot=2e3});function Kc(n){n.admitted=!1,n.remaining=0,n.resetMs=te,n.retryAfterMs=te,n.effectiveMs=te,n.delayMs=0}function It(n){let e=Ds.get(n);if(e===void 0){let t={...n,name:`reserved-${n.name}`,reserves:!0,maxEntries:ot,compile:r=>new Ei(t,n.compile(r),r),lua:$s(n.lua,n.drains)};e=t,Ds.set(n,t)}return e}var _c,Nc,Ns,Dc,Uc,Ei,Ds,Ti=h(()=>{"use strict";$();Cn();Oi();_s();_c=3e4,Nc=3,[Ns,Dc,Uc]=[0,1,2],Ei=class extends I{constructor(t,r,i){super(i,void 0,{limit:r.units,windowMs:r.windowMs});this.known=new WeakMap;this.algorithm=t,this.inner=r,this.holdMs=i.holdMs??_c}constants(t){let r=this.inner.constants(t),i=this.known.get(r);if(i===void 0){let a=r.length===this.inner.algorithm.lua.constants.length&&this.inner.algorithm.lua.constants.at(-1)==="ticks"?r.slice(0,-1):r;i=[...a,this.holdMs,...r.slice(a.length)],this.known.set(r,i)}return i}decide(t,r,i,o=0){let s=this.giveBackEnded(t,r);this.inner.decide(t,r,i);let{held:a}=t;if(a===void 0)return;(s||a.clock>r)&&(t.rebased=!0);let d=ot-a.length;d<=ot/2&&a.count(Uc,o)>=d&&Kc(t)}commit(t,r,i,o,s=0){this.inner.commit(t,r,i),t.held?.holdAsOf(r),!(i===0||o===void 0)&&(t.held??=new it(Nc),t.held.add(r,o,this.holdMs,[r,i,s]))}settle(t,r,i,o,s,a=0){this.giveBackEnded(t,r);let{held:d}=t;if(d?.holdAsOf(r),a===0){this.inner.settle(t,r,i,o);return}let l=d?.take([s]).get(s);l===void 0?this.inner.settle(t,r,a+i,r):this.inner.settle(t,r,i,i<0?l[Ns]:r)}renew(t,r,i){this.giveBackEnded(t,r);let{held:o}=t;o?.holdAsOf(r);for(let[s,a]of o?.take(i)??[])o?.add(r,s,this.holdMs,a);this.inner.settle(t,r,0,r)}keepMs(t,r){let{inner:i}=this,o=i.keepMs===void 0?t.resetMs:i.keepMs(t,r);return t.held===void 0?o:Math.max(o,t.held.lastEnd(r)-r)}giveBackEnded(t,r){let{held:i}=t,o=i===void 0?0:Math.min(i.endedAt(r),1e3);if(i===void 0||o===0)return!1;let{drains:s}=this.inner.algorithm;for(let a=0;a<o;a+=1){let d=s?i.until(a):r;this.inner.settle(t,d,-i.extra(a,Dc),i.extra(a,Ns))}return t.held=i.behind(o),!0}};Ds=new Map});var be,$t,Us,_t=h(()=>{"use strict";ui();ys();vs();Os();Ms();be={"sliding-window":wi,"fixed-window":ci,"sliding-log":gi,"token-bucket":ki,"leaky-bucket":hi},$t=Object.keys(be),Us="sliding-window"});var Nt,Ri,st,Dt=h(()=>{"use strict";Nt=["day","week","month"],Ri={day:864e5,week:6048e5,month:26784e5},st=class{constructor(e,t,r,i=!1){this.last={start:0,end:0};this.unit=e,this.zone=t,this.anchor=e==="day"?1:r,this.lengthMs=Ri[e],this.keepEndedMs=i?this.lengthMs+864e5:0,this.name=`${e}:${t.name}:${i?"*":this.anchor}`}at(e){let{last:t}=this;if(t.start<=e&&e<t.end)return t;let r=this.guess(this.zone.local(e)),i=this.start(r);for(;i>e;)i=this.start(--r);let o=this.start(++r);for(;o<=e;)[i,o]=[o,this.start(++r)];return this.last={start:i,end:o},this.last}guess(e){if(this.unit==="month"){let t=new Date(e);return 12*(t.getUTCFullYear()-1970)+t.getUTCMonth()}return Math.floor(e/this.lengthMs)}start(e){return this.zone.startOfDay(this.firstDay(e))}firstDay(e){if(this.unit==="day")return e*864e5;if(this.unit==="week")return(7*e+this.anchor-4)*864e5;let t=new Date(Date.UTC(1970,e+1,0)).getUTCDate();return Date.UTC(1970,e,Math.min(this.anchor,t))}}});var we,En=h(()=>{"use strict";we=class{constructor(e){this.format=new Intl.DateTimeFormat("en-US",{timeZone:e,calendar:"iso8601",numberingSystem:"latn",hourCycle:"h23",year:"numeric",month:"numeric",day:"numeric",hour:"numeric",minute:"numeric",second:"numeric"}),this.name=this.format.resolvedOptions().timeZone}local(e){let t={};for(let{type:l,value:c}of this.format.formatToParts(e))t[l]=Number(c);let{year:r,month:i,day:o,hour:s,minute:a,second:d}=t;return Date.UTC(r,i-1,o,s,a,d)}startOfDay(e){let t=this.offset(e-864e5),r=this.offset(e+864e5),i=e-Math.max(t,r);if(this.local(i)===e)return i;let o=e-Math.min(t,r);return this.local(o)===e?o:this.firstInstantFrom(e,i,o)}offset(e){return this.local(e)-Math.floor(e/1e3)*1e3}firstInstantFrom(e,t,r){let[i,o]=[t,r];for(;o-i>1;){let s=Math.floor((i+o)/2);this.local(s)>=e?o=s:i=s}return o}}});function ke(n,e,t=1,r=Ut,i=`Write ${n}: '1m' or ${n}: 60_000 for a minute.`){let o=typeof e=="string"?Bc(e):e;if(typeof o=="number"&&Number.isInteger(o)&&o>=t&&o<=r)return o;throw new y({code:typeof o=="number"?"SLUICE_OPTION_RANGE":"SLUICE_OPTION_TYPE",option:n,expected:`ms as an integer, or text such as '1m', from ${t} ms to ${Li(r)}`,received:e,fix:i})}function Li(n){if(n%1e3!==0)return`${n} ms`;let e=Gs.find(({ms:o})=>n%o===0),{words:t,ms:r}=e,i=n/r;return`${i} ${t[0]}${i===1?"":"s"}`}function Bc(n){if(n.length>Gc)return;let[,e,t="",r=""]=/^(\d+)(?:\.(\d+))? ?([a-z]+)$/.exec(n)??[],i=Wc.get(r);if(e===void 0||i===void 0)return;let o=BigInt(e+t)*BigInt(i),s=10n**BigInt(t.length);return o%s===0n?Number(o/s):Number.NaN}var Gs,Wc,Ut,Gc,at=h(()=>{"use strict";A();Gs=[{symbol:"y",words:["year","yr"],ms:315576e5},{symbol:"w",words:["week"],ms:6048e5},{symbol:"d",words:["day"],ms:864e5},{symbol:"h",words:["hour","hr"],ms:36e5},{symbol:"m",words:["minute","min"],ms:6e4},{symbol:"s",words:["second","sec"],ms:1e3},{symbol:"ms",words:["millisecond","msec"],ms:1}],Wc=new Map(Gs.flatMap(({symbol:n,words:e,ms:t})=>[n,...e,...e.map(r=>`${r}s`)].map(r=>[r,t]))),Ut=315576e6;Gc=40});function R(n,e,t=n){Bs.has(t)||(Bs.add(t),Tn(n,e))}function Tn(n,e){es(`${e} ${ye(n)}`,n)}var Bs,X=h(()=>{"use strict";M();Ct();Bs=new Set});var sa,aa=h(()=>{"use strict";sa={constants:["units","edge1","edge2","edge3","edge4","edge5","edge6","edge7","keepEndedMs"],enter:`
    rebased = now < a
    if now >= c or rebased then
      local ended = rebased and 0 or c
      if not rebased then
        b = 0
      end
      local following = edge3
      if now >= edge5 then
        a = edge5
        c = edge6
        following = edge7
      elseif now >= edge4 then
        a = edge4
        c = edge5
        following = edge6
      elseif now >= edge3 then
        a = edge3
        c = edge4
        following = edge5
      elseif now >= edge2 then
        a = edge2
        c = edge3
        following = edge4
      else
        a = edge1
        c = edge2
      end
      if keepEndedMs > 0 and ended > (0 > a and 0 or a) then
        a = ended
        c = following
      end
    end`,settle:`
    do
      local at = chargedAt < now and chargedAt or now
      if at >= a then
        b = math.min(9007199254740991, math.max(0, b + delta))
      end
    end`,full:`
    if keepEndedMs > 0 then
      fullIn = c + keepEndedMs - now
    else
      fullIn = b > 0 and c - now or 0
    end`,grantEnd:`
    ends = c`}});var da,Pn,Ui,Gt,Ki=h(()=>{"use strict";li();ui();tt();aa();da=2,Pn={enter(n,{edge1:e,edge2:t,edge3:r,edge4:i,edge5:o,edge6:s,edge7:a,keepEndedMs:d},l){if(n.rebased=l<n.a,l>=n.c||n.rebased){let c=n.rebased?0:n.c;n.rebased||(n.b=0);let u=r;l>=o?(n.a=o,n.c=s,u=a):l>=i?(n.a=i,n.c=o,u=s):l>=r?(n.a=r,n.c=i,u=o):l>=t?(n.a=t,n.c=r,u=i):(n.a=e,n.c=t),d>0&&c>Math.max(0,n.a)&&(n.a=c,n.c=u)}},settle(n,e,t,r,i){Math.min(i,t)>=n.a&&(n.b=Math.min(x,Math.max(0,n.b+r)))},full(n,{keepEndedMs:e},t){return e>0?n.c+e-t:n.b>0?n.c-t:0},grantEnd(n){return n.c}},Ui=class extends Tt{constructor(t){super(t,[]);this.algorithm=Gt;this.known=[];this.knownFor=Number.NaN;this.calendar=t.calendar}constants(t){return this.around(t),this.known}keepMs(t,r){return Pn.full(t,this.around(r),r)}enter(t,r){return Pn.enter(t,this.around(r),r),Pn.grantEnd(t)-r}correct(t,r,i,o){Pn.settle(t,this.around(r),r,i,o)}around(t){let{start:r}=this.calendar.at(t);if(r!==this.knownFor||this.edges===void 0){let i=this.edgesAround(r),[o,s,a,d,l,c,u]=i,{units:m}=this,{keepEndedMs:f}=this.calendar;this.edges={units:m,edge1:o,edge2:s,edge3:a,edge4:d,edge5:l,edge6:c,edge7:u,keepEndedMs:f},this.known=Object.values(this.edges),this.knownFor=r}return this.edges}edgesAround(t){let r=t;for(let o=0;o<da;o+=1)r=this.calendar.at(r-1).start;let i=[r];for(;i.length<2*da+3;)i.push(this.calendar.at(i.at(-1)).end);return i}},Gt={name:"fixed-window",options:{},maxLimit:x,keepsLog:!1,compile:n=>new Ui(n),lua:{...kn,...sa,constantsMove:!0,check:`
      if now < edge1 or now >= edge6 then
        problem = 'ERR the clocks of this process and of the server are too far apart'
      end`}}});function $n(n,e){return`${n}:{#}:${e}`}function Gi(n){return $n(n,"networks")}function Bt({limit:n,burst:e,maxDelayMs:t}){let r=e===void 0?"":`,burst=${e}`;return`${n}${r}${t===void 0?"":`,maxDelay=${t}`}`}function ma(n){let e=/^(\d+)(?:,burst=(\d+))?(?:,maxDelay=(\d+))?$/.exec(n);if(e===null)return;let[t,r,i]=e.slice(1).map(o=>o===void 0?o:Number(o));return{limit:t,burst:r,maxDelayMs:i}}var In,Wi,$e=h(()=>{"use strict";In=class{constructor(e){this.writing=new Set;this.write=e}of(e,t){return new Wi(e,t,(r,i)=>{let o=this.write(r,i),s=()=>this.writing.delete(o);return this.writing.add(o),o.then(s,s),o})}async settled(){await Promise.allSettled(this.writing)}},Wi=class{constructor(e,t,r){let i=e.map(({params:o})=>o?.windowMs??0);this.terms=e.flatMap(({prefix:o=t,name:s,params:a})=>a===void 0?[]:{key:$n(o,s),text:Bt(a)}),this.ttlMs=Math.max(864e5,2*Math.max(...i)),this.write=r,this.dueAt=this.terms.length===0?1/0:0}keep(){let e=performance.now();this.dueAt=e+6e5,this.write(this.terms,this.ttlMs).catch(()=>{this.dueAt=e+6e4})}}});function fa({algorithm:n,windowMs:e,calendar:t,policy:r}){return`${n}:${e}${t===void 0?"":`/${t}`}:${r}`}function Bi(n){let e=uu.exec(n);if(e===null)return;let[,t="",r,i,o=""]=e;return{algorithm:t,windowMs:Number(r),calendar:i,policy:o}}function ha(n){let{dryRun:e,windowMs:t,quota:r}=n;return`${e?"dry-":""}ban:${t}:${r}`}function pa(n){let e=/^(dry-)?ban:(\d+):(.+)$/.exec(n);if(e===null)return;let[,t,r,i]=e;return{dryRun:t!==void 0,windowMs:Number(r),quota:i}}var cu,uu,_n=h(()=>{"use strict";Dt();cu=`(?:${Nt.join("|")}):(?:[+-]\\d\\d:\\d\\d|[^:]+):(?:\\d+|\\*)`,uu=new RegExp(`^([a-z-]+):(\\d+)(?:/(${cu}))?:([\\x20-\\x7e]{1,128})$`)});function Dn(n,e){return Vi(n,0,e)?(Fi(e),!0):bu(n,e)?(ku(e)&&Fi(e),!0):!1}function ne(n){return n[5]===65535&&Oa(n,0,5)}function Hi(n){let e=n[0]===8193&&n[1]===0;if(!e&&n[0]!==8194)return!1;let t=e?65535:0,r=e?6:1;return n[6]=n[r]^t,n[7]=n[r+1]^t,Fi(n),!0}function Vi(n,e,t){let r=n.length;if(r-e<7||r-e>15)return!1;let i=0,o=0,s=0,a=0;for(let d=e;d<=r;d++){let l=d===r?46:n.charCodeAt(d);if(l===46){if(o===0||++i>4)return!1;(i&1)===1?a=s<<8:t[5+(i>>1)]=a|s,o=0,s=0}else{let c=l-48;if(c<0||c>9||o>0&&s===0||(s=s*10+c,o++,s>255))return!1}}return i===4}function bu(n,e){let t=n.length,r=0,i=-1,o=0;for(n.charCodeAt(0)===58&&n.charCodeAt(1)===58&&(i=0,o=2);o<t&&r<8;){let s=o,a=0;for(let d=xa(n,o);d>=0;d=xa(n,++o))a=a*16+d;if(o===s||o-s>4)return!1;if(n.charCodeAt(o)===46){if(!Vi(n,s,e))return!1;e.copyWithin(r,6,8),r+=2,o=t;break}if(e[r++]=a,o===t)break;if(n.charCodeAt(o)!==58||++o===t)return!1;if(n.charCodeAt(o)===58){if(i>=0)return!1;i=r,o++}}return o<t?!1:i<0?r===8:wu(e,i,r)}function wu(n,e,t){if(t>7)return!1;let r=8-(t-e);return n.copyWithin(r,e,t),n.fill(0,e,r),!0}function xa(n,e){let t=n.charCodeAt(e);if(t>=48&&t<=57)return t-48;let r=t|32;return r>=97&&r<=102?r-87:-1}function ku(n){return n[0]===100&&n[1]===65435&&Oa(n,2,6)}function Fi(n){n.fill(0,0,5),n[5]=65535}function Oa(n,e,t){for(let r=e;r<t;r++)if(n[r]!==0)return!1;return!0}function qi(n){let e=n[6],t=n[7];return`${e>>8}.${e&255}.${t>>8}.${t&255}`}function zi(n){let e=-1,t=1,r=0;for(let o=0;o<8;o++)r=n[o]===0?r+1:0,r>t&&(e=o+1-r,t=r);let i="";for(let o=0;o<8;o++)o===e?(i+="::",o+=t-1):(o>0&&o!==e+t&&(i+=":"),i+=n[o].toString(16));return i}var _e=h(()=>{"use strict"});function q(n){return typeof n!="object"&&typeof n!="function"?!1:typeof n?.then=="function"}function P(n,e){return q(n)?Promise.resolve(n).then(e):e(n)}function ut(n){return n.some(q)?Promise.all(n).then(()=>{}):void 0}function mt(n,e){try{let t=n();q(t)&&Promise.resolve(t).catch(e)}catch(t){e(t)}}var de=h(()=>{"use strict"});function Wn(n){return n.map(e=>({...e,cost:e.limit.algorithm.holdsSlots?-1:0}))}function Ke(n,e=[]){return n.map((t,r)=>{let{cost:i,slot:o}=t,s=o===void 0?void 0:i;return{...t,cost:-i,reserved:s,remaining:e[r]?.remaining}})}function Ht(n){let e=new Map;for(let t of n)for(let[r,{key:i,limit:o,slot:s}]of t.entries()){if(s===void 0)continue;let a=`${r} ${i}`,d=e.get(a)??{policy:r,key:i,limit:o,slots:[]};e.set(a,d),d.slots.push(s)}return[...e.values()]}function Ra({slot:n}){return n!==void 0}var le=h(()=>{"use strict"});var xu,me,Zi=h(()=>{"use strict";Ct();xu={SLUICE_WAIT_TOO_LONG:"it would have taken longer than maxWait",SLUICE_WAIT_NEVER:"it can never be admitted: the cost is larger than the limit, or the limit is 0",SLUICE_WAIT_FULL:"too many wait (maxWaiting), in all or for this key",SLUICE_WAIT_ABORTED:"its signal was aborted",SLUICE_WAIT_CLOSED:"the limiter was closed"},me=class extends Error{constructor(t,r,i){let s=r>0&&r<1/0?`, and would have to wait ${r} ms more at least`:"";super(`wait: ${xu[t]}${s}. ${ye(t)}`,i===void 0?{}:{cause:i});this.name="WaitError";this.code=t,this.retryAfterMs=r}}});function Ji({override:n,grants:e},t){let r=n!==void 0&&n.until>t,i=r?n.until:1/0,o=0;for(let{until:s,units:a}of e)s<=t||(o+=a,i=Math.min(i,s));if(!(!r&&o===0))return{override:r?n:void 0,granted:o,changesAt:i}}function eo(n){return Na.get(n)??n.units}function jt(n,{override:e,granted:t}){let r=_a.get(n);r===void 0&&(r=new Map,_a.set(n,r));let i=`${e?.limit} ${e?.burst} ${e?.maxDelayMs} ${t}`,o=r.get(i);if(o===void 0){let{algorithm:s,params:a}=n,d=e===void 0?a:{...a,...Mu(e)},l=Math.min(s.maxLimit,d.limit+t);o=s.compile({...d,limit:l}),r.size===Ou&&r.clear(),r.set(i,o),Na.set(n,Math.max(eo(n),o.units))}return o}function Mu({limit:n,burst:e,maxDelayMs:t}){return{limit:n,burst:e,maxDelayMs:t}}function We(n,e,t){let{terms:r}=n,i=r&&Ji(r,t);return i===void 0&&(n.terms=void 0),n.own=i&&jt(e,i),n.ownMs=i===void 0?1/0:i.changesAt-t,n.own??e}function Xt({override:n,grants:e}){return e.reduce((t,{until:r})=>Math.max(t,r),n?.until??0)}function Vn(n,e){return n!==void 0&&Xt(n)>e?n:void 0}function Yt(n,{terms:e},t){return e===void 0?n:Math.min(Math.max(n,Xt(e)-t),Au)}function Zt(n,e){let t=n?.override,r=t!==void 0&&t.until>e,i=n?.grants.filter(({until:o})=>o>e)??[];return r||i.length>0?{override:r?t:void 0,grants:i}:void 0}function Da(n,e,t){return Zt({override:e,grants:n?.grants??[]},t)}function Ua(n,e,t,r){let{id:i,units:o,until:s=e.grantEnd?.(to(n),r)??r}=t;if(s<=r)return"ended";let{override:a,grants:d}=Zt(n.terms,r)??{override:void 0,grants:[]};if(i!==""&&d.some(m=>m.id===i))return"known";let l=d.find(m=>i===""&&m.id===""&&m.until===s);if(l===void 0&&d.length===Z)return"too many";if(d.reduce((m,f)=>m+f.units,o)>e.algorithm.maxLimit-(a??e.params).limit)return"too much";let u=d.filter(m=>m!==l);return{override:a,grants:[...u,{id:i,until:s,units:o+(l?.units??0)}]}}function to(n){return Object.assign(new T,n)}var Z,Ou,_a,Na,Au,B=h(()=>{"use strict";$();Z=32,Ou=100;_a=new WeakMap,Na=new WeakMap;Au=315576e7});function Ge(n,{limit:e,owner:t},r,i){let o=n.terms===void 0?e:We(n,e,r),s=n.blockedUntil-r;if(s>0){Eu(n,s);return}n.blockedUntil=0,o.decide(n,r,i,t)}function no(n,{limit:e,slot:t,owner:r},i,o){return o===0&&!n.rebased?!1:((n.own??e).commit(n,i,o,t,r),!0)}function qn(n,e,t,r,i=!1){r!==void 0&&Ge(r.state,r,t,0);let o=r===void 0||r.state.admitted;for(let s=0;s<e.length;s+=1){let a=e[s],d=n[s];Ge(d,a,t,a.cost),d.admitted||(o=!1)}if(o)return!0;if(Cu(n,e,t),r?.state.admitted&&!i){let[{key:s,isUncounted:a}]=e;e.some((l,c)=>l.key===s&&!n[c]?.admitted)&&!a&&r.limit.commit(r.state,t,1)}return!1}function Qt(n,e){if(e===void 0)return n;let[{key:t,isUncounted:r}]=n;return[...n,{key:t,limit:e,cost:r?0:1}]}function Cu(n,e,t){for(let r=0;r<e.length;r+=1){let i=n[r];if(!i.admitted)continue;let{rebased:o}=i,s=e[r];(i.own??s.limit).decide(i,t,0,s.owner),i.rebased=o}}function Jt(n,{limit:e,cost:t,slot:r,reserved:i,remaining:o},s,a,d,l=0){if(n.blockedUntil>s)return;n.blockedUntil=0;let c=n.terms===void 0?e:We(n,e,s),u=d!==void 0&&(t>0||i!==void 0);u&&c.decide(n,s,0);let m=n.remaining;c.settle(n,s,t,a,r,i,o);let{remaining:f,resetMs:p}=n;return u&&f<m&&d.push({place:l,before:m,remaining:f,resetMs:p,limit:c.units,at:s}),zn(n,e,s)}function zn(n,e,t){let r=n.own??e,i=r.keepMs===void 0?n.resetMs:r.keepMs(n,t);return n.terms===void 0?i:Yt(i,n,t)}function Ka(n,e,t){let r=to(n);return Ge(r,{limit:e},t,0),r.blockedUntil>0?Yt(r.resetMs,r,t):zn(r,e,t)}function Wa(n,{limit:e,slots:t},r){return n.blockedUntil>r?!1:(n.blockedUntil=0,We(n,e,r).renew?.(n,r,t),!0)}function ft(n,e){let t=new T;return n.decide(t,e,0),t.remaining}function Eu(n,e){n.admitted=!1,n.rebased=!1,n.counted=!1,n.remaining=0,n.resetMs=e,n.retryAfterMs=e,n.effectiveMs=e,n.delayMs=0}var fe=h(()=>{"use strict";$();B()});function Tu(n,e,t){return{allowed:n,limit:n?1/0:0,remaining:n?1/0:0,resetMs:0,retryAfterMs:t,delayMs:0,policies:[],ban:void 0,source:n?"allow":"deny",at:e}}function Ba(n){return{admitted:!1,remaining:0,resetMs:n,retryAfterMs:n,effectiveMs:n,delayMs:0}}function tn(n,e,t){if(n.outcomes.length===0)return Tu(n.admitted,n.at,n.admitted?0:5e3);let r=n.ban===void 0?void 0:Ru(n.ban),i=Ga(n,e,t,0,r),{delayMs:o}=i,s=[i];for(let g=1;g<e.length;g+=1){let w=Ga(n,e,t,g,r);s.push(w),w.delayMs>o&&(o=w.delayMs)}let{admitted:a,source:d,at:l}=n,c=s.length===1?i:Xn({policies:s,allowed:a}),{limit:u,remaining:m,resetMs:f,retryAfterMs:p}=c;return{allowed:a,limit:u,remaining:m,resetMs:f,retryAfterMs:p,delayMs:o,policies:s,ban:r,source:d,at:l}}function Ru({admitted:n,counted:e,retryAfterMs:t}){return n?void 0:{began:e===!0,endsMs:t}}function Lu(n,{endsMs:e}){let{admitted:t,retryAfterMs:r,resetMs:i}=n,o=Math.max(r,e);return{admitted:!1,remaining:0,resetMs:Math.max(t?0:i,e),retryAfterMs:o,effectiveMs:o,delayMs:0}}function Ga(n,e,t,r,i){let{key:o,limit:s}=t[r],a=n.outcomes[r],{units:d,windowMs:l}=a.own??s,u=i!==void 0&&o===t[0]?.key?Lu(a,i):a,{at:m,source:f}=n.origins?.[r]??n,{name:p,unit:g}=e[r];return{name:p,unit:g,key:o,windowMs:l,allowed:u.admitted,limit:d,remaining:en(u.remaining),resetMs:en(u.resetMs),retryAfterMs:en(u.retryAfterMs),delayMs:n.admitted?en(u.delayMs):0,effectiveMs:en(u.effectiveMs),source:f,at:m}}function jn(n,e){let t=n.policies.map(i=>{let o=e(i);return o===0?i:{...i,...{allowed:!1,delayMs:0,retryAfterMs:o,effectiveMs:o}}}),r=Math.max(0,...t.map(i=>i.retryAfterMs));return{...n,allowed:!1,delayMs:0,retryAfterMs:r,policies:t}}function Xn({policies:n,allowed:e}){let[t,...r]=n;return r.reduce((i,o)=>i&&Pu(o,i,e)?o:i,t)}function Pu(n,e,t){return t?n.remaining!==e.remaining?n.remaining<e.remaining:n.resetMs>e.resetMs:n.retryAfterMs>e.retryAfterMs}function en(n){let e=n|0;return e===n?e:n}var Yn=h(()=>{"use strict"});function Zn(n){let e=0;for(let t=0;t<n.length;t+=1)e+=Va(n[t].limit);return e}function nn(n){return n>Iu}function Ha(n){let e=Array.from(n,o=>[Nu(o),o]);e.sort(([o],[s])=>o<s?-1:+(o>s));let t=[],r=new Set,i=1/0;for(let[,o]of e)i+=Fa(o,r),nn(i)&&(t.push([]),r=new Set,i=Fa(o,r)),t.at(-1)?.push(o);return t}function Va(n){let{keepsLog:e,maxEntries:t=e?eo(n):0}=n.algorithm;return 1+t/$u}function Fa(n,e){let t=0;for(let[r,{key:i,limit:o,slot:s}]of n.entries()){if(s===void 0)continue;let a=`${r} ${i}`;t+=e.has(a)?_u:Va(o),e.add(a)}return t}function Nu(n){return n.find(({slot:e})=>e!==void 0)?.key??""}var Iu,$u,_u,Qn=h(()=>{"use strict";B();Iu=160,$u=64,_u=1/2});function Se(n){try{return String(n)}catch{}try{return F(n)}catch{return`an ${typeof n} that has no text`}}function tr(n){if(!(n instanceof Error))return"Error";let{code:e}=n;return typeof e=="string"&&e!==""?e:n.name}var ht=h(()=>{"use strict";M()});var Qa={};yn(Qa,{WaitQueues:()=>oo});function ao({source:n}){return n==="store"||n==="cache"}function ja(n){return n.retryAfterMs===1/0&&ao(n)}function Xa({unit:n,remaining:e}){return e===0&&n!==Ya}function Hu({unit:n,retryAfterMs:e}){return n===Ya&&e<=Wu?0:e}var Uu,Ku,Ya,Wu,Gu,Bu,Fu,Za,oo,so,Ja=h(()=>{"use strict";M();Zi();j();at();Yn();Uu=3e4,Ku=2e3,Ya="concurrent-requests",Wu=1e3,Gu=.03,Bu=1e3,Fu=50,Za=2**30,oo=class{constructor(e,t){this.queues=new Map;this.waiters=new Set;this.actions=e,this.most=t}async wait(e,{maxWait:t,signal:r,priority:i=0,address:o}){let[s]=e,a=t===void 0?1/0:ke("maxWait",t,0);W("priority",i,-1e3,1e3),r!==void 0&&Te("signal.addEventListener",r?.addEventListener,"of an AbortSignal");let d=await this.actions.overLimit(e);if(d!==void 0&&ja(d))throw this.actions.ended(d,e,0),new me("SLUICE_WAIT_NEVER",1/0);let l=K?Symbol():s.key,c=this.queues.get(l)??new so(l);if(r?.aborted)throw new me("SLUICE_WAIT_ABORTED",c.waitMs,r.reason);if(c.count>=this.most-this.waiters.size)throw new me(this.most<0?"SLUICE_WAIT_CLOSED":"SLUICE_WAIT_FULL",c.waitMs);return s.isUncounted=!0,new Promise((u,m)=>{let f={charges:e,address:o,queue:c,priority:i,deadline:performance.now()+a,resolve:u,reject:m,aborted:()=>this.fail(f,"SLUICE_WAIT_ABORTED",r?.reason),signal:r,admission:void 0,timer:void 0};r?.addEventListener("abort",f.aborted),this.waiters.add(f),this.queues.set(l,c),c.add(f),c.isServed?c.wake():this.serve(c)})}wake(e){this.queues.get(e)?.free()}close(){this.most=-1;for(let e of this.waiters)this.fail(e,"SLUICE_WAIT_CLOSED")}async serve(e){e.isServed=!0;for(let t=e.head;t!==void 0;t=e.head){let r=performance.now();e.soonest<Math.max(r,e.certainAt)&&this.expire(e,t,r);let i=e.refuses(t.charges)?Math.min(e.askAt,t.deadline):r;this.waiters.has(t)&&(i>r?await e.rest(Math.min(i,e.soonest)-r):await this.ask(t))}e.isServed=!1,this.forget(e)}expire(e,t,r){e.soonest=1/0;for(let i of e.inLine()){let{deadline:o,charges:s}=i;o<r&&i!==t||o<e.certainAt&&e.refuses(s)?this.fail(i,"SLUICE_WAIT_TOO_LONG"):e.soonest=Math.min(e.soonest,o)}}async ask(e){let{charges:t,address:r,queue:i,deadline:o}=e,{actions:s}=this,a=performance.now();i.isFreed=!1;let d;try{d=await s.ask(t,r)}catch(f){this.leave(e),e.reject(f);return}let l=performance.now(),{allowed:c,delayMs:u}=d,m=this.waiters.has(e);if(c)m?u>0&&l+u>o?(i.refused(jn(d,({delayMs:f})=>f),[],a),this.fail(e,"SLUICE_WAIT_TOO_LONG"),await this.undo(e,d)):(i.admitted(d,a),i.delete(e),e.admission=d,this.goOn(e,d,l-a,l+u)):await this.undo(e,d);else{if(ja(d)){i.refusal=d,this.fail(e,"SLUICE_WAIT_NEVER");return}i.refused(d,t,a),o<=l&&this.fail(e,"SLUICE_WAIT_TOO_LONG")}}goOn(e,t,r,i){let o=i-performance.now();if(o>0){let a=()=>this.goOn(e,t,r,i);e.timer=setTimeout(a,Math.min(Math.ceil(o),Za));return}this.leave(e),this.actions.ended(t,e.charges,r);let s=t.policies.map(a=>({...a,delayMs:0}));e.resolve(t.delayMs===0?t:{...t,delayMs:0,policies:s})}fail(e,t,r){if(!this.waiters.has(e))return;let{queue:i,charges:o,admission:s}=e;this.leave(e);let a=t==="SLUICE_WAIT_NEVER";e.reject(new me(t,a?1/0:i.waitMs,r)),(a||t==="SLUICE_WAIT_TOO_LONG")&&i.refusal!==void 0&&this.actions.ended(i.refusal,o,0),s===void 0?i.wake():this.undo(e,s)}async undo({charges:e,queue:t},r){try{await this.actions.undo(e,r)}catch{}t.free()}leave(e){let{queue:t,signal:r,timer:i,aborted:o}=e;this.waiters.delete(e)&&(clearTimeout(i),r?.removeEventListener("abort",o),t.delete(e),t.count-=1,this.forget(t))}forget(e){e.count===0&&!e.isServed&&this.queues.delete(e.id)}},so=class{constructor(e){this.count=0;this.isServed=!1;this.soonest=1/0;this.askAt=0;this.certainAt=0;this.isFreed=!1;this.roundEndsAt=0;this.wonAt=-1/0;this.wake=()=>{};this.readyAt=0;this.spreadMs=0;this.line=new Map;this.id=e}get waitMs(){return Math.max(0,Math.ceil(this.readyAt-performance.now()))}get head(){return this.inLine().next().value??void 0}*inLine(){let e=[...this.line.keys()].sort((t,r)=>r-t);for(let t of e)yield*this.line.get(t)}add(e){let{priority:t,deadline:r}=e,i=this.line.get(t)??new Set;this.line.set(t,i.add(e)),this.count+=1,this.soonest=Math.min(this.soonest,r)}delete(e){let{priority:t}=e;this.line.get(t)?.delete(e),this.line.get(t)?.size===0&&this.line.delete(t)}free(){this.isFreed=!0,this.roundEndsAt=0,this.refusedCosts=void 0,this.certainAt=0,this.wake()}rest(e){return new Promise(t=>{let r=setTimeout(t,Math.min(Math.ceil(e),Za));this.wake=()=>{clearTimeout(r),t()}})}refuses(e){return this.refusedCosts?.every((t,r)=>e[r].cost>=t)??!1}refused(e,t,r){let{retryAfterMs:i,policies:o}=e,s=performance.now();this.refusal=e,this.readyAt=s+i;let a=ao(e),d=Math.max(1,Math.min(i,a?Uu:Ku));this.spreadMs=Math.min(d*Gu,Bu);let l=1/(1+(s-this.wonAt)/d);this.askAt=s+d+this.spreadMs*(.25*Math.random()+.75*l),this.roundEndsAt=s+d+this.spreadMs,this.certainAt=a?r+Math.max(0,...o.map(Hu)):0,this.isFreed?this.free():this.refusedCosts=t.map(({cost:c})=>c)}admitted(e,t){let{delayMs:r,remaining:i,policies:o}=e;this.wonAt=performance.now();let a=this.roundEndsAt-this.wonAt<=this.spreadMs?this.roundEndsAt:0;if(r>0)this.refused(jn(e,d=>d.delayMs),[],t),this.askAt=performance.now()+r-Fu;else if(o.some(Xa)&&ao(e)){let d=l=>Xa(l)?l.effectiveMs:0;this.refused(jn(e,d),[],t),this.askAt=Math.max(this.askAt,a)}else{let d=this.spreadMs*(1+Math.random())/2/(i+1);this.askAt=Math.max(performance.now()+d,a),this.refusedCosts=this.askAt-performance.now()<1?void 0:[],this.certainAt=0}}}});function td(n){return/^(\.[1-9]\d{0,5})?(\.[\da-f]{8})?$/.test(n)}var ed,lo=h(()=>{"use strict";ed=""});function sd(n){let e=zu(n);if(e===void 0)return;let t=new Uint16Array(8);return Dn(e,t)?t:void 0}function zu(n){if(n.length>qu)return;let e=Xu(ju(n));if(e===void 0)return;if(e.startsWith("[")){let r=e.indexOf("]"),i=e.slice(r+1);return r>0&&(i===""||od(i))?id(e.slice(1,r)):void 0}let t=e.indexOf(":");return t<0?e:e.indexOf(":",t+1)>=0?id(e):od(e.slice(t))?e.slice(0,t):void 0}function ju(n){let e=0,t=n.length;for(;e<t&&rd(n.charCodeAt(e));)e++;for(;t>e&&rd(n.charCodeAt(t-1));)t--;return n.slice(e,t)}function rd(n){return n===32||n===9}function Xu(n){return n.startsWith('"')?n.length>1&&n.endsWith('"')?n.slice(1,-1):void 0:n}function id(n){let e=n.indexOf("%"),t=e<0?n:n.slice(0,e);return t.includes(":")?t:void 0}function od(n){if(n.length<2||n.length>6||n.charCodeAt(0)!==58)return!1;for(let e=1;e<n.length;e++){let t=n.charCodeAt(e);if(t<48||t>57)return!1}return!0}var qu,Vb,ad=h(()=>{"use strict";_e();qu=64,Vb=new Uint16Array(8)});function ir(n){return`#${Ye("sha256",n,"utf16le","base64url")}`}function z(n){let e=n.length===fo&&n.startsWith("#");return n.length>tm||e?ir(n):n}function pt(n){if(n.length<nm)return n;let e=n.slice(0,1)+n.slice(1);return e.charCodeAt(0),e}var fo,tm,nm,yt=h(()=>{"use strict";M();fo=44,tm=256;nm=13});function Be(n){if(n.charCodeAt(0)!==123)return 0;let e=n.indexOf("}");return e>1?e+1:0}function sn(n){let e=Be(n);return e===0?n:n.slice(0,e)}var an=h(()=>{"use strict"});function bd(n,e){switch(n.kind){case"settle":return n.charges.map(({key:t},r)=>({policy:r,key:t}));case"renew":return Ht(n.requests);case"block":case"reset":return Array.from({length:e},(t,r)=>({policy:r,key:n.key}));case"override":case"grant":return[n]}}function cr(n){return"key"in n?[n.key]:(n.kind==="settle"?n.charges:n.requests.flat()).map(({key:t})=>t)}function wd(n,e,t,r,i){switch(n.kind){case"settle":{let{charges:o,chargedAt:s=r}=n;for(let[a,d]of o.entries()){let{key:l,limit:c}=d,u=e.load(a,l),m=Jt(u,d,r,s,i,a);m!==void 0&&e.keep(a,l,u,m,c)}return}case"renew":for(let o of Ht(n.requests)){let{policy:s,key:a,limit:d}=o,l=gd(e,s,a);l===void 0||!Wa(l,o,r)||e.keep(s,a,l,zn(l,d,r),d)}return;case"block":case"reset":for(let o=0;o<t;o+=1){let{key:s}=n,a=n.kind==="block"?n.durationMs:0,d=new T;d.terms=Vn(gd(e,o,s)?.terms,r),a>0&&(d.blockedUntil=r+a),e.keep(o,s,d,Yt(a,d,r))}return;default:return um(n,e,r)}}function um(n,e,t){let{policy:r,key:i,limit:o}=n,s=e.load(r,i);if(n.kind==="override")s.terms=Da(s.terms,n.override,t);else{let a=Ua(s,o,n.grant,t);if(typeof a=="string")return a;s.terms=a}return e.keep(r,i,s,Math.max(Ka(s,o,t),go(s)?0:1)),n.kind==="grant"?"granted":void 0}function go({a:n,b:e,c:t,blockedUntil:r,log:i,held:o}){return n===0&&e===0&&t===0&&r===0&&(i??o)===void 0}function gd(n,e,t){try{return n.load(e,t)}catch{return}}var dn=h(()=>{"use strict";$();fe();B();le()});function kd(n=ie(),e=ie()){let t=n|0,r=e|0;return i=>{let o=t,s=r,a=t^1819895653,d=r^1952801890,{length:l}=i,c=1;for(;c<l;c+=2){let f=i.charCodeAt(c-1)|i.charCodeAt(c)<<16;d^=f,o=o+s|0,s=(s<<5|s>>>27)^o,o=o<<16|o>>>16,a=a+d|0,d=(d<<8|d>>>24)^a,o=o+d|0,d=(d<<7|d>>>25)^o,a=a+s|0,s=(s<<13|s>>>19)^a,a=a<<16|a>>>16,o^=f}let u=l<<25|(c===l?i.charCodeAt(c-1):0),m=255;for(let f=0;f<4;f+=1)d^=u,o=o+s|0,s=(s<<5|s>>>27)^o,o=o<<16|o>>>16,a=a+d|0,d=(d<<8|d>>>24)^a,o=o+d|0,d=(d<<7|d>>>25)^o,a=a+s|0,s=(s<<13|s>>>19)^a,a=a<<16|a>>>16,o^=u,a^=m,u=m=0;return s^d}}var vd=h(()=>{"use strict";M()});function pm(n){return n.length<=hm&&/^\d*$/.test(n)}function wm(n,e){let t=n.length-1;for(let r=e+2&t;n[r+1]!==0;r=r+2&t){let i=n[r]<<1&t;(r-i&t)<(r-e&t)||(n[e]=n[r],n[e+1]=n[r+1],e=r)}n[e+1]=0}var mm,fm,hm,ln,ym,gm,bm,bo,Sd=h(()=>{"use strict";vd();mm=16384,fm=16,hm=10,ln=class{constructor(e,t){this.few=new Map;this.maxKeys=e,this.rows=t}find(e){let t=this.few===void 0?void 0:this.few.get(e);return t!==void 0?t:this.many===void 0?-1:this.many.find(e)}add(e,t){let{few:r}=this;if(r!==void 0&&this.moving===void 0&&!pm(e)){r.set(e,t),r.size===mm&&(this.moving=r.entries());return}this.many??=new bo(this.maxKeys,this.rows),this.many.add(e,t);for(let i=0;this.moving!==void 0&&i<fm;i+=1)this.moveOne()}delete(e){this.few?.delete(e)!==!0&&this.many?.delete(e)}moveOne(){let{value:e,done:t}=this.moving.next();if(t){this.few=void 0,this.moving=void 0;return}let[r,i]=e;this.few?.delete(r),this.many?.add(r,i)}};ym=4096,gm=8,bm=512,bo=class{constructor(e,t,r=kd()){this.strays=new Map;let i=Math.max(0,Math.ceil(Math.log2(e/ym)));this.rows=t,this.hash=r,this.shards=new Array(2**i).fill(void 0),this.sizes=new Array(2**i).fill(0),this.shift=31-i}find(e){let t=this.hash(e),r=this.shards[this.shardOf(t)],i=r===void 0?-1:this.search(r,t,e);return i>=0?r[i+1]-1:this.strays.size===0?-1:this.strays.get(e)??-1}add(e,t){let r=this.hash(e),i=this.shardOf(r),o=this.shards[i];o===void 0?(o=new Int32Array(2*gm),this.shards[i]=o):8*(this.sizes[i]+1)>3*o.length&&(o=this.grow(i,o)),this.insert(i,o,r,t)}delete(e){if(this.strays.size>0&&this.strays.delete(e))return;let t=this.hash(e),r=this.shardOf(t),i=this.shards[r];this.sizes[r]=this.sizes[r]-1,wm(i,this.search(i,t,e))}search(e,t,r){let i=e.length-1,o=t<<1&i;for(let s=0;s<bm;s+=1){let a=e[o+1]-1;if(a<0)return r===void 0?o:-1;if(r!==void 0&&e[o]===t&&this.rows.key(a)===r)return o;o=o+2&i}return-1}insert(e,t,r,i){let o=this.search(t,r,void 0);if(o<0){this.strays.set(this.rows.key(i),i);return}t[o]=r,t[o+1]=i+1,this.sizes[e]=this.sizes[e]+1}grow(e,t){let r=new Int32Array(t.length*2);this.shards[e]=r,this.sizes[e]=0;for(let i=0;i<t.length;i+=2){let o=t[i+1]-1;o>=0&&this.insert(e,r,t[i],o)}return r}shardOf(e){return e>>>1>>>this.shift}}});var km,mr,O,he,vm,re,Fe,fr,wo,hr=h(()=>{"use strict";yt();Sd();km=256,mr=12,O=2**mr,he=4,vm=2,re=255,Fe=0,fr=class{constructor(e,t,r){this.size=0;this.spare=0;this.dueAt=1/0;this.pages=[];this.lastFree=-1;this.next=0;this.hand=0;this.maxKeys=e,this.prefix=t,this.name=r,this.index=new ln(e,this),this.claim(void 0)}find(e){return this.index.find(e.length<fo?e:z(e))}findKept(e){return this.index.find(e)}add(e){let t=pt(z(e)),r=this.claim(t);return this.index.add(t,r),this.size+=1,r}delete(e){let t=this.find(e);t>=0&&this.free(t)}free(e){let{keys:t,states:r}=this.page(e);this.index.delete(t[e&O-1]),this.empty(e),t[e&O-1]=void 0,r[(e&O-1)*he]=this.lastFree,this.lastFree=e,this.size-=1}clear(){this.index=new ln(this.maxKeys,this),this.pages=[],this.size=0,this.spare=0,this.dueAt=1/0,this.lastFree=-1,this.next=0,this.own?.clear(),this.claim(void 0)}sweep(e){let t=this.expired(e,km);for(let r of t)this.free(r);return t.length}key(e){return this.page(e).keys[e&O-1]}get end(){return this.next}load(e,t){let{states:r,logs:i,helds:o}=this.pages[e>>mr],s=(e&O-1)*he;t.a=r[s],t.b=r[s+1],t.c=r[s+2],t.log=i===void 0?void 0:i[e&O-1],t.held=o===void 0?void 0:o[e&O-1],t.blockedUntil=-r[s+3]}save(e,t,r,i,o){let s=this.pages[e>>mr],{states:a}=s,d=(e&O-1)*he,l=r+i;a[d]=t.a,a[d+1]=t.b,a[d+2]=t.c,a[d+3]=l,l<s.dueAt&&this.due(s,l),s.usages[e&O-1]!==o&&this.setUsage(e,o),t.log!==void 0&&(s.logs??=[],s.logs[e&O-1]=t.log),t.held!==void 0&&(s.helds??=[],s.helds[e&O-1]=t.held)}block(e,t){this.empty(e);let r=this.page(e);r.states[(e&O-1)*he+3]=-t,t<r.dueAt&&this.due(r,t)}usage(e){return this.page(e).usages[e&O-1]}setUsage(e,t){let r=this.page(e),i=r.usages[e&O-1],o=e===Fe?re:t;r.usages[e&O-1]=o;let s=+(i===re)-+(o===re);r.spare+=s,this.spare+=s}expired(e,t){let r=[],i=this.nextPage(o=>o.dueAt<=e);return i===void 0?this.dueAt=Math.min(...this.pages.map(({dueAt:o})=>o)):i.dueAt=i.expired(e,t,this.hand*O,r),r}best(){let e=this.spare>0?this.nextPage(({spare:t})=>t>0):void 0;return e===void 0?-1:this.hand*O+e.best()}soonest(){let e=this.nextPage(({keys:t})=>t.some(r=>r!==void 0));return e===void 0?-1:this.hand*O+e.soonest()}page(e){return this.pages[e>>mr]}claim(e){let t=this.lastFree<0?this.next++:this.lastFree;t===this.pages.length*O&&this.pages.push(new wo(t===0?vm:O));let r=this.page(t);(t&O-1)===r.usages.length&&r.grow();let{keys:i,states:o}=r;if(i[t&O-1]=e,t===this.lastFree){let s=(t&O-1)*he;this.lastFree=o[s],o[s]=0}return t}due(e,t){e.dueAt=t,t<this.dueAt&&(this.dueAt=t)}empty(e){let{states:t,logs:r,helds:i}=this.page(e),o=(e&O-1)*he;t.fill(0,o,o+he),r!==void 0&&(r[e&O-1]=void 0),i!==void 0&&(i[e&O-1]=void 0),this.setUsage(e,re)}nextPage(e){for(let t=0;t<this.pages.length;t+=1){this.hand=(this.hand+1)%this.pages.length;let r=this.pages[this.hand];if(e(r))return r}}},wo=class{constructor(e){this.keys=[];this.spare=0;this.dueAt=1/0;this.states=new Float64Array(e*he),this.usages=new Uint8Array(e).fill(re)}grow(){let{states:e,usages:t}=this;this.states=new Float64Array(e.length*2),this.states.set(e),this.usages=new Uint8Array(t.length*2).fill(re),this.usages.set(t)}best(){let{usages:e}=this,t=0;for(let r=1;r<this.keys.length;r+=1)e[r]<e[t]&&(t=r);return t}expired(e,t,r,i){let o=1/0;for(let s=0;s<this.keys.length;s+=1){let a=this.freeAt(s);if(!(a>=o||this.keys[s]===void 0))if(a>e)o=a;else{if(i.length===t)return e;i.push(r+s)}}return o}soonest(){let e=-1;for(let t=0;t<this.keys.length;t+=1)this.keys[t]!==void 0&&(e<0||this.freeAt(t)<this.freeAt(e))&&(e=t);return e}freeAt(e){return Math.abs(this.states[e*he+3])}}});function Od(n){try{return $m(n)??_m(n)}catch{return}}function $m(n){let e=pa(n),t=e&&Bi(e.quota);if(e===void 0||t===void 0)return;let{windowMs:r,dryRun:i}=e;if(r<1)return;let{policy:o}=t;return new br(n,Pe,{policy:o,dryRun:i},{windowMs:r,bansMs:[1]})}function _m(n){let e=Bi(n),t=e&&Md(e);if(e===void 0||t===void 0)return;let{windowMs:r,policy:i}=e;if(r<1!=(t===Ie)||r>Ut)return;let o=Nm(e);return new br(n,t,{policy:i,dryRun:!1},{windowMs:r,calendar:o})}function Md(n){let[,e]=/^reserved-(.+)$/.exec(n.algorithm)??[];if(e!==void 0){let i=Md({...n,algorithm:e});return i&&!i.keepsLog?It(i):void 0}let{algorithm:t,calendar:r}=n;return r!==void 0?Gt:t===Ie.name?Ie:Object.values(be).find(({name:i})=>i===t)}function Nm({calendar:n}){let[,e,t,r]=/^([a-z]+):(.+):(\d+|\*)$/.exec(n??"")??[];if(t===void 0)return;let i=r==="*"?1:Number(r);return new st(e,new we(t),i,r==="*")}function Ad(n,e,t){return Ge(e,n.keyspace,t,0),vo(n,e,t)}function vo(n,e,t){let{prefix:r,key:i,isDigest:o,keyspace:s}=n,{name:a,algorithm:d,policy:l,windowMs:c,dryRun:u}=s,{terms:m}=e,f=m&&Ji(m,t),p=e.own??s.limit,g=f?.override===void 0?s.tells:"everything",w=s.tells==="everything"?s.limit.params:void 0,v=Math.max(0,e.blockedUntil-t),S=v>0,k=d===Pe&&!e.admitted&&!S;return{prefix:r,keyspace:{name:a,algorithm:d,params:w},policy:l,windowMs:c,dryRun:u,key:i,isDigest:o,at:t,limit:g==="everything"?p.units:void 0,used:g==="blocks"||S?void 0:ft(p,t)-e.remaining,remaining:g==="everything"?e.remaining:void 0,resetMs:g==="blocks"&&!S?void 0:e.resetMs,override:f?.override&&{limit:f.override.limit,until:Dm(m)},granted:f?.granted??0,blockedMs:v,bannedMs:k?e.retryAfterMs:0}}function Dm(n){let e=n?.override?.until;return e===1/0?void 0:e}var br,wr=h(()=>{"use strict";xi();Dt();Ki();En();Ci();_t();Ti();tt();at();fe();B();$e();_n();br=class{constructor(e,t,{policy:r,dryRun:i},o){let{windowMs:s}=o,d=t.maxLimit<x?Math.min(t.maxLimit,Math.floor(x/s)):x;this.name=e,this.algorithm=t,this.policy=r,this.windowMs=s,this.dryRun=i,this.params=o,this.limit=t.compile({...o,limit:d}),this.tells=t.drains?"blocks":"use"}learn(e){let t=ma(e??"");t===void 0||t.limit>this.algorithm.maxLimit||(this.limit=this.algorithm.compile({...this.params,...t}),this.tells="everything")}}});var Um,gt,So=h(()=>{"use strict";an();wr();lo();Um=1e3,gt=class{constructor({prefix:e,policy:t,key:r,onePerKeyspace:i,onProgress:o}){this.looked=0;this.seen=new Set;this.keyspaces=new Map;this.told=new WeakSet;this.prefix=e,this.policy=t,this.key=r,this.onePerKeyspace=i,this.onProgress=o}find(e){let t=/^([\w.:-]+):(\{[!-z|~]{1,64}\})?\{([!-z|~]{1,64})\}:(.+)$/.exec(e);if(t===null)return e.startsWith(`${this.prefix}:`)?null:void 0;let[,r,i="",o,s]=t;if(o==="#")return;let a=this.keyspaceOf(r,s);if(!a)return a;if(this.key!==void 0&&Be(this.key)>0)return{prefix:r,keyspace:a,key:this.key,isDigest:!1};let d=i.startsWith("{#")||this.key===void 0&&o[0]==="#";return{prefix:r,keyspace:a,key:i+(this.key??o),isDigest:d}}keyspaceOf(e,t){if(!(e.startsWith(this.prefix)&&td(e.slice(this.prefix.length))))return;let i=this.read(e,t);return i===void 0?null:(this.policy===void 0||this.policy===i.policy)&&!this.seen.has(`${e}
${t}`)?i:void 0}untold(e){return e.filter(({keyspace:t})=>{let r=!this.told.has(t);return this.told.add(t),r})}note({prefix:e,keyspace:t}){this.onePerKeyspace&&this.seen.add(`${e}
${t.name}`)}progress(e,t){this.looked+=e,this.onProgress?.({looked:this.looked,unreadable:t})}read(e,t){let r=`${e}
${t}`;if(this.keyspaces.has(r))return this.keyspaces.get(r);this.keyspaces.size===Um&&this.keyspaces.clear();let i=Od(t);return this.keyspaces.set(r,i),i}}});var Cd={};yn(Cd,{inspectTables:()=>Km});async function*Km(n,e,t){let r=new gt(t);for(let i of n){let{prefix:o,name:s}=i,a=r.keyspaceOf(o,s);if(!a)continue;i.params!==void 0&&a.learn(Bt(i.params));let d=(c,u,m,f)=>{let p=new T;return c>=0&&i.load(c,p),p.terms=i.own?.terms.get(u),Ad({prefix:o,keyspace:a,key:u,isDigest:m},p,f)};if(r.key!==void 0){let{key:c}=r,u=i.find(c),m=Zt(i.own?.get(c),e());(u>=0||m!==void 0)&&(yield{...d(u,z(c),!1,e()),key:c});continue}let l=!1;for(let c=Fe+1;c<i.end;c+=kr){let u=e(),m=[];for(let f=c;f<Math.min(c+kr,i.end);f+=1){let p=i.key(f);p!==void 0&&m.push(d(f,p,z(p)!==p,u))}if(yield*m,r.progress(Math.min(kr,i.end-c),[]),l||=m.length>0,r.onePerKeyspace&&l)break;await new Promise(At)}(!l||!r.onePerKeyspace)&&(yield*Wm(i,e,d))}}async function*Wm(n,e,t){let r=0;for(let[i,o]of n.own?.terms??[]){let s=e();n.findKept(i)<0&&Zt(o,s)!==void 0&&(yield t(-1,i,z(i)!==i,s)),r+=1,r%kr===0&&await new Promise(At)}}var kr,Ed=h(()=>{"use strict";M();$();yt();wr();So();$e();B();hr();kr=1e3});function nf(n){if(n==null)return!1;let e=n;return typeof e.customCommand=="function"?typeof e.invokeScript=="function":typeof e.eval!="function"?!1:He(n)?typeof e.evalsha=="function":typeof e.evalshaBuffer=="function"&&typeof e.status=="string"||Co(e)&&typeof e.withTypeMapping=="function"}function He(n){return typeof n.createScript=="function"}function bt(n){return He(n)?!1:"customCommand"in n?typeof n.invokeScriptWithRoute=="function":"evalsha"in n?n.isCluster===!0:typeof n.nodeClient=="function"}function Co(n){return typeof n.evalSha=="function"&&typeof n.isOpen=="boolean"}function Ar(n,e){if(nf(e))return e;throw new y({code:"SLUICE_STORE_UNKNOWN",option:n,expected:"a client of ioredis 5 or 6, iovalkey, node-redis 5 or 6, valkey-glide 2, or @upstash/redis, or a store such as memoryStore()",received:e,fix:rf(Object(e))})}function rf(n){return typeof n.then=="function"?"Await it: this is a promise.":typeof n.connect=="function"&&typeof n.query=="function"?"Write postgresStore(pool) of @sluice/postgres, with a Pool of pg.":Co(n)?"Install version 5 or 6 (npm install redis@latest): this client is of node-redis 4.":typeof n.customCommand=="function"&&typeof n.evalshaBuffer=="function"?"In tests, pass memoryStore(), or a client of a real server: the Lua of ioredis-mock lacks struct.":typeof n.increment=="function"?"Pass the client itself: this is a store of another limiter.":"Pass the client itself: new Redis(url) of ioredis, or createClient({ url }) of redis."}function $d(n){let{listenerCount:e}=n;Co(n)&&e?.call(n,"error")===0&&R("SLUICE_CLIENT_UNGUARDED","The node-redis client has no 'error' listener, so Node ends the process when Redis is lost. Write client.on('error', console.error) before you pass the client on.")}var cn=h(()=>{"use strict";A();X()});function Cr(n,e,t,r,i=n[e].replaceAll("`","")){return new y({code:e,option:"store",expected:t,said:r,fix:i})}var Eo=h(()=>{"use strict";A()});function Nd(n){return`local function decide()
${n}
end
local reply = decide()
local isAlone = type(reply) == 'string'
local bytes, parts = isAlone and reply or reply[1], {}
for from = 1, #bytes, ${8*256} do
  local count = math.min(256, (#bytes - from + 1) / 8)
  parts[#parts + 1] = ('%.17g,'):rep(count):format(struct.unpack('<' .. ('d'):rep(count), bytes, from))
end
local decimals = table.concat(parts)
if isAlone then return decimals end
reply[1] = decimals
return reply`}function Dd(n){return Array.isArray(n)?[_d(n[0]),...n.slice(1)]:_d(n)}function _d(n){if(typeof n!="string"||!of.test(n))throw new TypeError("the reply is not that of the script");let e=n.slice(0,-1).split(","),t=new DataView(new ArrayBuffer(8*e.length));return e.forEach((r,i)=>{t.setFloat64(8*i,Number(r.replace(/inf/i,"Infinity")),!0)}),new Uint8Array(t.buffer)}var of,Ud=h(()=>{"use strict";of=/^(?:-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf),)+$/i});function Ae(n){if(n.length===0||n.length>sf)return Kd(n);for(let e=0;e<n.length;e+=1){let t=n.charCodeAt(e);if(!(t>32&&t<127&&t!==35&&t!==123&&t!==125))return Kd(n)}return n}function Kd(n){let e=Be(n);return e===0?ir(n):`${To(n.slice(1,e-1))}}{${To(n.slice(e))}`}function To(n){return Be(n)===0?Ae(n):ir(n)}function Gd(n){let e=Be(n);return Ro(e===0?Ae(n):To(n.slice(1,e-1)))}function Ro(n){return uf(n)>>af}function uf(n){let e=n.indexOf("{"),t=e===-1?-1:n.indexOf("}",e+1),r=t>e+1,i=r?t:n.length,o=0;for(let s=r?e+1:0;s<i;s+=1){let a=o>>8^n.charCodeAt(s);o=o<<8&65535^cf[a]}return o%df}var sf,af,Wd,df,lf,cf,Er=h(()=>{"use strict";yt();an();sf=64,af=10,Wd=65535;df=16384,lf=4129,cf=Uint16Array.from({length:256},(n,e)=>{let t=e<<8;for(let r=0;r<8;r+=1)t=t&32768?t<<1^lf:t<<1;return t})});var Tr,Lo=h(()=>{"use strict";Tr={SLUICE_REDIS_NOT_CONNECTED:"Call `client.on('error', \u2026)`, then `await client.connect()`, before the first request.",SLUICE_REDIS_AUTH:"Give the client the server's username and password.",SLUICE_REDIS_FORBIDDEN:"Permit all of this, with `concurrent` or `reserve` also `+zadd +zcount +zrange +zrem +zscore`, in addition to the commands of the client itself, with your own prefix in place of sluice: `ACL SETUSER <name> ~sluice[.:]* +eval +evalsha +time +get +mget +set +getrange +setrange +pexpire +del`.",SLUICE_REDIS_CLUSTER:"Use `new Cluster([{ host, port }])` of ioredis, `createCluster({ rootNodes: [{ url }] })` of node-redis, or `GlideClusterClient.createClient({ addresses: [{ host, port }] })` of valkey-glide.",SLUICE_REDIS_NO_SCRIPTS:"Enable `EVAL` and `EVALSHA` on the server; for Valkey, install its Lua module.",SLUICE_REDIS_READONLY:"Connect to the master through Sentinel or an address that follows it, and reconnect after a failover: ioredis by `reconnectOnError: (e) => (e.message.includes('READONLY') ? 1 : false)`, the others by `redisStore(client, { onReadOnly })`."}});function Rr(n,e){let t=n instanceof Error?n.message:"",r=mf.find(({says:i,passesInCluster:o})=>i.test(t)&&!(e&&o));return r===void 0?n:Cr(Tr,r.code,r.expected,t)}function Fd(n){return n instanceof y&&n.code==="SLUICE_REDIS_READONLY"}function Hd(n){if(!(n instanceof Error))return n;let e=Bd.exec(n.message)?.[1];if(e===void 0)return n;let t=`${ff.get(e)??e} `;return new Error(n.message.replace(Bd,()=>t),{cause:n})}function Vd(n){if(!(n instanceof Error))return n;let e=n.message.replace(hf,"");return e===n.message?n:new Error(e)}var mf,ff,Bd,hf,Po=h(()=>{"use strict";Eo();A();Lo();mf=[{says:/^NOPERM |ACL failure in script|The user executing the script can't /,code:"SLUICE_REDIS_FORBIDDEN",expected:"a Redis user whose ACL allows the script"},{says:/^(NOAUTH|WRONGPASS) |^Unauthorized\b|^ERR Protocol error: unauthenticated /,code:"SLUICE_REDIS_AUTH",expected:"the credentials of the Redis server"},{says:/^(MOVED \d|CROSSSLOT )/,passesInCluster:!0,code:"SLUICE_REDIS_CLUSTER",expected:"a client of the whole Redis Cluster, not of one of its nodes"},{says:/^ERR unknown command .?eval|^ERR Could not find scripting engine/i,code:"SLUICE_REDIS_NO_SCRIPTS",expected:"a Redis server that runs Lua scripts"},{says:/\bREADONLY /,code:"SLUICE_REDIS_READONLY",expected:"a Redis master"}];ff=new Map([["ResponseError","ERR"],["NoScriptError","NOSCRIPT"],["ReadOnly","READONLY"],["PermissionDenied","NOPERM"],["Moved","MOVED"],["CrossSlot","CROSSSLOT"]]),Bd=/^(?:An error was signalled by the server: - )?(\w+): /;hf=/^Command failed: |, command was: \[[\s\S]*/g});function yf(n){let e=qd.get(n)??new L(Nd(n.text));return qd.set(n,e),e}function gf(n){R("SLUICE_ON_READ_ONLY",`onReadOnly threw ${Se(n)}. The limiter keeps working. Fix the callback.`)}function bf(n){return He(n)?Of(n):"customCommand"in n?xf(n):"evalsha"in n?wf(n):vf(n)}function wf(n){let e=n;return(t,r,i,o)=>t==="EVALSHA"?e.evalshaBuffer(r,i.length,...i,...o):e.evalBuffer(r,i.length,...i,...o)}function vf(n){let e=n.withTypeMapping({[kf]:globalThis.Buffer});return async(t,r,i,o)=>{if(!n.isOpen)throw Cr(Tr,"SLUICE_REDIS_NOT_CONNECTED","a node-redis client that is connected","a client whose isOpen is false");let s={keys:i,arguments:o};return t==="EVALSHA"?e.evalSha(r,s):e.eval(r,s)}}function xf(n){return async(e,t,r,i)=>{try{let o=[e,t,`${r.length}`,...r,...i];return await n.customCommand(o,{decoder:Sf})}catch(o){throw Hd(o)}}}function Of(n){return async(e,t,r,i)=>{try{return await(e==="EVALSHA"?n.evalsha(t,r,i):n.eval(t,r,i))}catch(o){throw Vd(o)}}}var pf,L,qd,Lr,kf,Sf,wt=h(()=>{"use strict";M();Eo();ht();X();de();cn();Ud();Er();Lo();Po();pf=1e3,L=class{constructor(e){this.text=e,this.sha=Ye("sha1",e,"utf8","hex")}},qd=new WeakMap;Lr=class{constructor(e,t,r){this.quietUntil=-1/0;this.sentWhole=new WeakMap;this.fail=e=>{let t=Rr(e,this.isCluster);throw Fd(t)&&this.tellOfReplica(),t};this.isCluster=bt(e),this.everyShard=this.isCluster?Wd:1,this.send=bf(e),this.isRest=He(e),this.runForNumbers=this.isRest?this.runInDecimals:this.run,this.clock=t,this.onReadOnly=r}time(){return this.clock===void 0?{now:-1,minTtlMs:1e3}:{now:this.clock(),minTtlMs:36e5}}run({script:e,args:t},r,i){return this.sentWhole.get(e)!==this.everyShard&&this.isFirst(e,r)?this.send("EVAL",e.text,r,t).then(i,this.fail):this.send("EVALSHA",e.sha,r,t).then(i,o=>!(o instanceof Error)||!o.message.startsWith("NOSCRIPT")?this.fail(o):this.send("EVAL",e.text,r,t).then(i,this.fail))}isFirst(e,[t]){let r=this.sentWhole.get(e)??0,i=this.isCluster?1<<Ro(t):1;return this.sentWhole.set(e,r|i),(r&i)===0}runInDecimals(e,t,r){let i={script:yf(e.script),args:e.args};return this.run(i,t,o=>r(Dd(o)))}tellOfReplica(){let e=performance.now();this.onReadOnly===void 0||e<this.quietUntil||(this.quietUntil=e+pf,mt(this.onReadOnly,gf))}};kf=36;Sf=0});var jd,Io,Xd=h(()=>{"use strict";jd="local tickAt, tickStart, tickFrom",Io=`
tickAt = function(ms, windowMs, ticks)
  local windows = (ms - ms % windowMs) / windowMs
  return windows * ticks + math.floor((ms - windows * windowMs) * ticks / windowMs)
end
tickStart = function(tick, windowMs, ticks)
  local windows = (tick - tick % ticks) / ticks
  return windows * windowMs + math.ceil((tick - windows * ticks) * windowMs / ticks)
end
tickFrom = function(ms, windowMs, ticks)
  local tick = tickAt(ms, windowMs, ticks)
  return tickStart(tick, windowMs, ticks) < ms and tick + 1 or tick
end`});function Ve(n){let e=new Set(n.map(({step:t})=>t.entries?.functions??""));return`local KEYS, redis, struct = KEYS, redis, struct
local call, pack = redis.call, struct.pack
${n.some(({step:t})=>t.constants.includes("ticks"))?jd:""}
${n.some(Rf)?Io:""}
${n.some(({step:t})=>t.entries)?`local head = ${32}`:""}${[...e].join("")}`}function qe({step:{constants:n}},e){let t=n.map((r,i)=>e[i]??"0");return`local ${n.join(", ")} = ${t.join(", ")}`}function un(n,e,t){let{step:r}=n,i=r.entries?`'GETRANGE', key, '0', '${31}'`:"'GET', key",o=r.entries&&kt(n)?`if livesUntil < 0 then
        local terms = call('GETRANGE', key, '${32}', '${32+$o(n)-1}')
        ${Yd(n,t)}
      end`:"",s=r.entries||!kt(n)?"":`elseif #raw > ${32} then
        a, b, c, livesUntil = struct.unpack('<dddd', raw)
        local terms = livesUntil < 0 and string.sub(raw, ${33}) or ''
        ${Yd(n,t)}`;return`
    raw = ${e}redis.pcall(${i})
    ${r.check===void 0?"":`local problem${r.check}
if problem then raw = { problem = problem } end`}
    if raw and #raw == ${32} then
      a, b, c, livesUntil = struct.unpack('<dddd', raw)
      ${o}
    else
      a, b, c, livesUntil = 0, 0, 0, 0
      if not raw or raw == '' then
        raw = ('\\0'):rep(${32})
      elseif #raw == 8 then
        local blockedMs = struct.unpack('<d', raw) - now
        raw = ('\\0'):rep(${32})
        if blockedMs > 0 then a, raw = -1, pack('<dddd', -1, blockedMs, blockedMs, 1) end
      ${s}
      else
        local problem = raw.err or raw.problem or ${Ce}
        ${t}
      end
    end`}function kt({step:n,isBan:e}){return e!==!0&&n.entries?.reserves!==!0}function Ir({step:n}){return 8*(Tf+ze(n).length)}function ze(n){let{constants:e,constantsMove:t,onlyLimitIsOwn:r}=n;return t||r?e.slice(0,1):e}function $o(n){return Ir(n)+Z*pe}function Yd(n,e){let{step:t}=n,r=ze(t),i=r.map((s,a)=>`n${a+1}`),o=Ir(n);return`
        local size = #terms >= ${o} and struct.unpack('<d', terms) or 0
        local grants = (size - ${o}) / ${pe}
        if grants >= 0 and grants % 1 == 0 and grants <= ${Z} and #terms ${t.entries?">=":"=="} size then
          local ends, ownUntil, ownLimit, ownBurst, ownDelay, ${i.join(", ")} = struct.unpack('<${"d".repeat(5+i.length)}', terms, 9)
          local granted, grantUntil = 0, 0
          for at = ${o+1}, size, ${pe} do
            local time, units = struct.unpack('<dd', terms, at)
            if time > now then
              granted = granted + units
              if grantUntil == 0 or time < grantUntil then grantUntil = time end
            end
          end
          if ownUntil > now then
            ${r.join(", ")} = ${i.join(", ")}
          else
            ownUntil = 0
          end
          ${t.more===void 0?"":`if granted > 0 then ${t.more} end`}
          ${r.includes("ticks")?`if ticks > 0 and not tickAt then ${Io} end`:""}
          own = { ends = ends, head = ${32} + size, mark = 0, ${r.join(", ")} }
          if ownUntil > 0 or granted > 0 then
            own.mark = -1
            owns = (owns or '') .. pack('<dddddd', ownUntil, ownLimit, ownBurst, ownDelay, granted, grantUntil)
          end
          if a == -1 then
            local blockedMs = b - now
            a, b, c = 0, 0, 0
            if blockedMs > 0 then
              a, raw = -1, pack('<dddd', -1, blockedMs, blockedMs, own.mark == 0 and 1 or -2)
            end
          end
          if a >= 0 then
            raw = pack('<dddd', a, b, c, own.mark)
            if own.mark == 0 then livesUntil = 0 end
          end
        else
          local problem = ${Ce}
          ${e}
        end`}function $r(n){if(!kt(n))return"";let e=ze(n.step);return`
    if own then ${e.join(", ")} = unpack(own, 1, ${e.length}) end
    ${mn(n)}`}function mn(n){return n.step.entries&&kt(n)?`head = own and own.head or ${32}`:""}function fn(n){return n.step.entries===void 0||!kt(n)?"":`
        if own and own.mark == 0 then
          local entries = call('GETRANGE', key, head, '-1')
          call('SET', key, pack('<dddd', a, b, c, 0) .. entries, 'KEEPTTL')
          head, livesUntil = ${32}, 0
        end`}function _r(n,e){let{step:t}=n,r=kt(n),i=t.entries?.renew!==void 0,o=t.entries?`call('SETRANGE', key, '0', state)
        call('PEXPIRE', key, ttl)`:"call('SET', key, state, 'PX', ttl)",s=`
        if livesUntil < 0 then
          call('SETRANGE', key, '0', pack('<dddd', a, b, c, -(now + ttl)))
          if own.ends < math.huge then
            ttl = math.max(ttl, own.ends - now + ${e})
            call('PEXPIRE', key, string.format('%.0f', ttl))
          end
        else`;return`
      if now + fullIn <= livesUntil or now + fullIn <= -livesUntil then
        call('SETRANGE', key, '0', pack('<ddd', a, b, c))
        ${i?"call('PEXPIRE', heldKey(key), string.format('%.0f', math.abs(livesUntil) - now))":""}
      else
        local keepFor = fullIn
        ${t.keep??""}
        local ttl = keepFor + ${e}
        ${i?"call('PEXPIRE', heldKey(key), string.format('%.0f', ttl))":""}
        ${r?s:""}
        local state = pack('<dddd', a, b, c, now + ttl)
        ttl = string.format('%.0f', ttl)
        ${o}
        ${r?"end":""}
      end`}function Rf({step:n,given:e}){return n.constants[e-1]==="ticks"}var Pr,Ce,Tf,pe,hn=h(()=>{"use strict";Xd();B();Pr=`
if not now then
  local time = call('TIME')
  now = time[1] * 1000 + time[2] / 1000
  now = now - now % 1
end`;Ce="'ERR a key that holds no state'";Tf=6,pe=32});function No(n,e){let t=1,r=n.map((s,a)=>{let d=s.step.entries?.renew!==void 0,l=t,c=l+s.given,u=d?s.step.entries?.reserves?3:2:1,m=s.step.queues===!0;t=c+u+Number(m);let f=qe(s,Nr(s,l)),[,p,g]=[0,1,2].map(v=>v<u?`ARGV[at + ${c+v}]`:"nil"),w=m?`local remaining = ARGV[at + ${c+u}]`:"";return{...s,number:a+1,constants:f,delta:c,slot:p,reserved:g,left:w}}),i=r.map(s=>{let{number:a,constants:d}=s;return`
do
  local key, raw, a, b, c, livesUntil, own = KEYS[${a}]
  ${d}
  ${un(s,"","return redis.error_reply(problem)")}
  read[${a}] = { ${_o.join(", ")} }
  ${e?`raws[${a}] = raw`:""}
end`}),o=r.map(s=>{let{number:a,constants:d,delta:l,slot:c,reserved:u,left:m,step:f}=s;return`
if read[${a}][1] >= 0 then
  local key, ${_o.join(", ")} = KEYS[${a}], unpack(read[${a}], 1, ${_o.length})
  ${d}
  ${$r(s)}
  local delta, slot, reserved = ARGV[at + ${l}], ${c}, ${u}
  ${m}
  local rebased, fullIn, raw
  ${fn(s)}
  ${f.enter??""}
  ${e?Zd(s,"local before = remaining"):""}
  ${f.settle??""}
  ${e?Zd(s,`raws[${a}] = pack('<dddd', before, remaining, resetIn, own and own.mark or 0)`):""}
  ${e&&f.entries?.reserves?`raws[${a}] = raw`:""}
  ${Jd(s)}
end`});return`${Ve(n)}
${vt}
local at, chargedAt, read, raws = 3, ARGV[3] < 0 and now or ARGV[3], {}, {}
${i.join("")}
${o.join("")}
${e?"return pack('<d', now) .. table.concat(raws) .. (owns or '')":""}`}function Zd({step:n},e){return n.entries?.show===void 0?"":`
  local cost, admitted, remaining, resetIn, wait = 0
  do
    ${n.decide}
    ${n.entries.show}
  end
  ${e}`}function Qd(n){let{step:e,given:t}=n;return`${Ve([n])}
${vt}
local at = 2
for k = 1, #KEYS do
  local key, raw, a, b, c, livesUntil, own = KEYS[k]
  ${qe(n,Nr(n,1))}
  at = at + ${t+1}
  local slots = { unpack(ARGV, at + 1, at + ARGV[at]) }
  at = at + #slots
  ${un(n,"","a = -1")}
  if a >= 0 then
    local rebased, fullIn
    ${mn(n)}
    ${fn(n)}
    ${e.enter??""}
    ${e.entries?.renew??""}
    ${Jd(n)}
  end
end`}function Nr({given:n},e){return Array.from({length:n},(t,r)=>`ARGV[at + ${e+r}]`)}function ol(n){return`local call, probe = redis.call, KEYS[1]
call('SET', probe, '', 'PX', ARGV[1])
call('SETRANGE', probe, '0', 'x')
call('GETRANGE', probe, '0', '0')
call('MGET', probe)
call('GET', probe)
call('PEXPIRE', probe, ARGV[1])
call('TIME')${n}
call('DEL', probe)`}var vt,_o,Jd,Lf,el,tl,nl,rl,il,Dr=h(()=>{"use strict";Pt();B();hn();vt=`
for i = 1, #ARGV do ARGV[i] = ARGV[i] + 0 end
local now, minTtl, owns = ARGV[1], ARGV[2]
if now < 0 then now = nil end
${Pr}`;_o=["a","b","c","livesUntil","own"],Jd=n=>`
    ${n.step.full??""}
    if fullIn == 0 and livesUntil >= 0 then
      call('DEL', key${n.step.entries?.renew?", heldKey(key)":""})
    else
      ${_r(n,"minTtl")}
    end`,Lf=160+Z*pe,el=`
local function termsOf(key)
  local first = redis.pcall('GETRANGE', key, '0', '${47}')
  if type(first) ~= 'string' or #first < ${48} then return end
  local livesUntil, size, ends = struct.unpack('<ddd', first, 25)
  if not (livesUntil < 0 and size >= 16 and size <= ${Lf} and ends > now) then return end
  local terms = call('GETRANGE', key, '${32}', string.format('%.0f', ${32} + size - 1))
  if #terms == size then return terms, ends end
end

local function putTerms(key, value, ends)
  if ends == math.huge then return call('SET', key, value) end
  call('SET', key, value, 'PX', string.format('%.0f', ends - now + minTtl))
end`,tl=`local call, pack = redis.call, struct.pack
${vt}
${el}
local ttl = string.format('%.0f', math.max(ARGV[3], minTtl))
for _, key in ipairs(KEYS) do
  local terms, ends = termsOf(key)
  if terms then putTerms(key, pack('<dddd', -1, now + ARGV[3], 0, -1) .. terms, math.max(ends, now + ARGV[3]))
  else call('SET', key, pack('<d', now + ARGV[3]), 'PX', ttl) end
end`,nl=`local call, pack = redis.call, struct.pack
${vt}
${el}
for _, key in ipairs(KEYS) do
  local terms, ends = termsOf(key)
  if terms then putTerms(key, pack('<dddd', 0, 0, 0, -1) .. terms, ends) else call('DEL', key, key .. '${Lt}') end
end`,rl=ol(""),il=ol(`
call('DEL', probe)
call('ZADD', probe, '1', 'x')
call('ZSCORE', probe, 'x')
call('ZCOUNT', probe, '1', '1')
call('ZRANGE', probe, '0', '0')
call('ZREM', probe, 'x')`)});function al(n){return n===""?[0,0]:[parseInt(n.slice(0,sl),16),parseInt(n.slice(sl),16)]}var sl,dl=h(()=>{"use strict";sl=12});function Kr(n,e){return ml(n,e,!0)}function ul(n){return ml(n,"general",!1)}function ml(n,e,t){let{policies:r,size:i}=Pf(n,e),o=e==="general",a=n.some(({step:c})=>c.entries)?"{}":"call('MGET', unpack(KEYS))",d=o?"minTtl":`(ARGV[${i+2}] or ${cl})`,l=n.some(({isBan:c})=>c);return`${Ve(n)}${l?$f:""}
${o?If(i):`local now = ARGV[${i+1}] and ARGV[${i+1}] + 0`}
${Pr}
local raw, failures, owns
local raws = #KEYS > 1 and ${o?`(isRepeated and {} or ${a})`:a}
for first = 1, #KEYS, ${n.length} do
${r.length===1?_f(r[0],t,d):Nf(r,t,d)}
${o?"at = at + stride":""}
end
local reply = pack('<d', now) .. (raws and table.concat(raws) or raw)
if owns then reply = reply .. owns end
if failures then return { reply, unpack(failures) } end
return reply`}function Pf(n,e){let t=0,r=()=>(t+=1,e==="general"?`ARGV[at + ${t}] + 0`:`ARGV[${t}] + 0`);return{policies:n.map((o,s)=>{let a=Array.isArray(e)?e[s].map(String):void 0,d=qe(o,a??Array.from({length:o.given},r)),l=e==="general"?r():"1",c=e==="general"&&o.step.entries?.renew?r():void 0,u=c!==void 0&&o.step.entries?.reserves?r():void 0,m=s===0?"first":`first + ${s}`;return{...o,number:s+1,at:m,constants:d,cost:l,slot:c,owner:u}}),size:t}}function If(n){return`
local at, stride, minTtl, now, isRepeated = 0, 0, ${cl}
if #ARGV > ${n} then
  local last = #ARGV
  now, minTtl, stride, isRepeated = ARGV[last - 3] + 0, ARGV[last - 2] + 0, ARGV[last - 1] + 0, ARGV[last] == '1'
  if now < 0 then now = nil end
end`}function fl(n,e){let{step:t,at:r,constants:i,cost:o,owner:s}=n;return`
    local key, a, b, c, livesUntil, own = KEYS[${r}]
    ${i}
    ${un(n,`raws and raws[${r}] or `,ll)}
    local admitted, rebased
    ${mn(n)}
    if a >= 0 then
      local cost = ${o}
      ${s===void 0?"":`local owner = ${s}`}
      ${t.enter??""}
      ${t.decide}
      ${e}
    elseif a ~= -1 then
      local problem = ${Ce}
      ${ll}
    end
    if raws then raws[${r}] = raw end`}function hl({step:n}){return n.entries?.show===void 0?"":`
      local remaining, resetIn, wait
      ${n.entries.show}
      raw = pack('<dddd', admitted and remaining or -1 - remaining, resetIn, wait, own and own.mark or 0)`}function pl(n,e){let{step:t,slot:r,owner:i}=n;return`
      if cost > 0 or rebased then
        local fullIn
        ${fn(n)}
        ${r===void 0?"":`local slot = ${r}`}
        ${i===void 0?"":`local owner = ${i}`}
        ${t.commit}
        ${t.full??""}
        ${_r(n,e)}
      end`}function _f(n,e,t){let r=`
      if not admitted then cost = 0 end
      ${pl(n,t)}`;return fl(n,hl(n)+(e?r:""))}function Nf(n,e,t){let r=n.length>Df,i=d=>gl(d,r),o=n.map(d=>{let l=i(d).join(", ");return`
  ${r?"":`local ${l}`}
  do
    ${fl(d,"")}
    ${l} = ${Ur.join(", ")}
  end`}),s=n.map(d=>i(d)[yl]),a=n.map(d=>{if(!e&&d.step.entries?.show===void 0)return"";let l=d.isBan?`cost = ${Uf(n,r)} and cost or 0`:"if not all then cost = 0 end";return`
  if ${i(d)[0]} >= 0 then
    local ${Ur.join(", ")} = ${i(d).join(", ")}
    local cost, key, raw = ${d.cost}, KEYS[${d.at}]
    ${d.constants}
    ${$r(d)}
    ${d.step.entries?.show?`if admitted and not all then cost = 0 end${hl(d)}
raws[${d.at}] = raw`:""}
    ${l}
    ${e?pl(d,t):""}
  end`});return`
  local failed, kept = failures and #failures${r?", {}":""}
${o.join("")}
  local all = ${s.join(" and ")}
${a.join("")}`}function gl({number:n},e){return Ur.map((t,r)=>e?`kept[${(n-1)*Ur.length+r+1}]`:`${t}_${n}`)}function Uf(n,e){return`admitted and not all and failed == (failures and #failures) and (${n.slice(0,-1).map(r=>`${`not ${gl(r,e)[yl]}`} and clientOf(KEYS[${r.at}]) == clientOf(KEYS[first])`).join(" or ")})`}var cl,$f,ll,Df,Ur,yl,bl=h(()=>{"use strict";hn();cl=1e3;$f=`
local function clientOf(key) return string.match(key, '{.-}:') end`,ll=`
        if raw.err and not problem:find('WRONGTYPE', 1, true) then return raw end
        failures = failures or {}
        failures[#failures + 1] = problem
        a, raw = -1, pack('<dddd', -math.huge, 0, 0, 0)`;Df=16,Ur=["a","b","c","livesUntil","admitted","rebased","own"],yl=4});function wl(n,e){let{step:t,given:r}=n,i=ze(t).length,o=Ir(n),s=3+r,a=d=>`ARGV[${s+d}]`;return`${Ve([n])}
${vt}
local at, key = 2, KEYS[1]
${qe(n,Nr(n,1))}
local value = call('GET', key)
local a, b, c, livesUntil, terms, entries = 0, 0, 0, 0, '', ''
if value and #value == 8 then
  a, b = -1, (struct.unpack('<d', value))
elseif value then
  if #value < ${32} then return redis.error_reply(${Ce}) end
  a, b, c, livesUntil = struct.unpack('<dddd', value)
  if livesUntil < 0 and #value >= ${32} + ${o} then
    local size = struct.unpack('<d', value, ${33})
    local grants = (size - ${o}) / ${pe}
    if not (grants >= 0 and grants % 1 == 0 and size <= ${$o(n)} and #value >= ${32} + size) then
      return redis.error_reply(${Ce})
    end
    terms, livesUntil = string.sub(value, ${33}, ${32} + size), -livesUntil
  end
  entries = string.sub(value, ${33} + #terms)
  ${t.entries?"":`if #entries > 0 then return redis.error_reply(${Ce}) end`}
end

local ownUntil, numbers = 0, ('\\0'):rep(${8*(3+i)})
local grants, granted, ends = {}, 0, 0
if terms ~= '' then
  ownUntil = struct.unpack('<d', terms, 17)
  numbers = string.sub(terms, 25, ${o})
  for from = ${o+1}, #terms, ${pe} do
    local time, units = struct.unpack('<dd', terms, from)
    if time > now then
      grants[#grants + 1] = string.sub(terms, from, from + ${pe-1})
      granted, ends = granted + units, math.max(ends, time)
    end
  end
end
${e?Wf(n,a):Kf(i,s)}

if ownUntil > now then
  ends = math.max(ends, ownUntil)
else
  ownUntil, numbers = 0, pack('<ddd', -1, -1, -1) .. ('\\0'):rep(${8*i})
end
if ends > now then
  grants = table.concat(grants)
  value = pack('<dddd', a, b, c, -math.max(1, livesUntil))
    .. pack('<ddd', ${o} + #grants, ends, ownUntil) .. numbers .. grants .. entries
elseif a == -1 then
  value = pack('<d', b)
else
  local isUsed = a ~= 0 or b ~= 0 or c ~= 0 or #entries > 0
  value = isUsed and pack('<dddd', a, b, c, livesUntil) .. entries
end
ends = math.max(now, ends, livesUntil, a == -1 and b or 0)
if not value then call('DEL', key)
elseif ends == math.huge then call('SET', key, value)
else call('SET', key, value, 'PX', string.format('%.0f', ends - now + minTtl)) end
return 0`}function Kf(n,e){return`
ownUntil = ARGV[${e}]
numbers = pack('<${"d".repeat(3+n)}', unpack(ARGV, ${e+1}, ${e+3+n}))`}function Wf({step:n},e){return`
local time, units, one, other = ${e(0)}, ${e(1)}, ${e(2)}, ${e(3)}
if time == 0 then
  local problem
  ${n.check??""}
  if problem then return redis.error_reply(problem) end
  local a, b, c, rebased, ends = a, b, c
  if a == -1 then a, b, c = 0, 0, 0 end
  ${n.enter??""}
  ${n.grantEnd??""}
  time = ends
end
if time <= now then return 4 end
local limit = ownUntil > now and struct.unpack('<d', numbers) or ${e(5)}
local id, same = pack('<dd', one, other)
for i, known in ipairs(grants) do
  if string.sub(known, 17) == id then
    if one ~= 0 or other ~= 0 then return 1 end
    if struct.unpack('<d', known) == time then same = i end
  end
end
if not same and #grants == ${Z} then return 2 end
if granted + units > ${e(4)} - limit then return 3 end
if same then
  local _, before = struct.unpack('<dd', grants[same])
  grants[same] = pack('<dd', time, before + units) .. id
else
  grants[#grants + 1] = pack('<dd', time, units) .. id
end
ends = math.max(ends, time)`}var kl=h(()=>{"use strict";B();Dr();hn()});function Wr(n){let e=Uo.get(n)??new L(n);return Uo.set(n,e),e}function Vf({limit:n,grant:{until:e=0,units:t,id:r}}){return[e,t,...al(r),n.algorithm.maxLimit,n.params.limit]}function qf(n){return n===1/0?"1e999":String(n)}function zf(n){return n[0].every((e,t)=>new Set(n.map(i=>i[t].key)).size===n.length)}function Do({limit:n},e){return n.constants(e).length}function St({now:n}){return n<0?Date.now():n}function Sl(n,e,t,r,i=!1){for(let o=0;o<e.length;o+=1){let{limit:s,cost:a,slot:d=0,reserved:l=0,owner:c=0,remaining:u=-1}=e[o],{entries:m,queues:f}=s.algorithm.lua,p=Gr(s,r);n.push(...p);for(let g=p.length;g<t[o];g+=1)n.push("0");n.push(`${a}`),m?.renew&&n.push(`${d}`),m?.reserves&&n.push(`${i?l:c}`),i&&f&&n.push(`${u}`)}}function Gr(n,e){let t=n.constants(e),r=xl.get(t);return r===void 0&&(r=t.map(String),xl.set(t,r)),r}function jf(n,e){for(let t=0;t<n.length;t+=1){let[r,i]=[n[t],e[t]];if(r.limit!==i.limit||r.cost!==i.cost||r.slot!==void 0)return!1}return!0}var Gf,Uo,vl,Bf,Ff,Hf,xt,xl,Ko=h(()=>{"use strict";dn();B();le();dl();wt();Dr();bl();kl();hn();Gf=32,Uo=new Map,vl=0;Bf={general:n=>Kr(n,"general"),usual:n=>Kr(n,"usual"),peek:ul,settle:n=>No(n,!1),raise:n=>No(n,!0)},Ff=new L(tl),Hf=new L(nl),xt=class{constructor(e,t=!1){this.known=new Map;this.keyspaces=e,this.hasBan=t,this.isGeneral=e.some(({algorithm:i})=>i.lua.entries!==void 0),(e.some(({algorithm:i})=>i.lua.constantsMove)||e.some(({limit:i})=>i===void 0))&&(this.fixed=null)}decide(e,t){let r=e[0],i=e.length===1,o=i||e.every(d=>jf(d,r)),s=!i&&!zf(e),a=o&&!s&&!this.isGeneral;for(let d=0;d<r.length;d+=1)r[d]?.cost!==1&&(a=!1);return a?this.usual(r,t):this.general("general",e,t,o,s)}peek(e,t){return this.general("peek",e,t,e.length===1,!1)}settle(e,t,r,i){let o=St(t),s=e.map(d=>Do(d,o)),a=[`${t.now}`,`${t.minTtlMs}`,`${r}`];return Sl(a,e,s,o,!0),{script:this.script(i?"raise":"settle",s),args:a}}change(e,t,r){return e.kind==="renew"?this.renewals(Ht(e.requests),t,r):[{call:this.callOf(e,r),keys:bd(e,t)}]}callOf(e,t){let r=[`${t.now}`,`${t.minTtlMs}`];switch(e.kind){case"settle":return this.settle(e.charges,t,e.chargedAt??-1,!1);case"block":return{script:Ff,args:[...r,`${e.durationMs}`]};case"reset":return{script:Hf,args:r};default:return this.own(e,r,t)}}renewals(e,t,r){return Array.from({length:t},(o,s)=>e.filter(({policy:a})=>a===s)).filter(({length:o})=>o>0).map(o=>({call:this.renew(o,r),keys:o}))}renew(e,t){let r=St(t),i=[`${t.now}`,`${t.minTtlMs}`];for(let{limit:a,slots:d}of e)i.push(...Gr(a,r),`${d.length}`,...d.map(String));let{limit:o}=e[0],s={step:o.algorithm.lua,given:o.constants(r).length};return{script:Wr(Qd(s)),args:i}}own(e,t,r){let{kind:i,policy:o,limit:s}=e,a=Gr(s,St(r)),d=i==="grant"?Vf(e):this.overrideOf(e,r),l={step:this.stepOf(o),given:a.length};return{script:Wr(wl(l,i==="grant")),args:[...t,...a,...d.map(qf)]}}overrideOf({policy:e,limit:t,override:r},i){let{until:o,limit:s,burst:a=-1,maxDelayMs:d=-1}=r??{until:0,limit:-1},l=r&&jt(t,{override:r,granted:0}).constants(St(i)),c=ze(this.stepOf(e)).map((u,m)=>l?.[m]??0);return[o,s,a,d,...c]}stepOf(e){return this.keyspaces[e].algorithm.lua}usual(e,t){let r=[],i=e.length===this.keyspaces.length?this.fixed:null;for(let o=0;i!==null&&o<e.length;o+=1)e[o]?.limit!==this.keyspaces[o]?.limit&&(i=null);if(i===void 0&&(i=this.composeFixed(e),this.fixed=i),i===null){let o=St(t);for(let{limit:s}of e)r.push(...Gr(s,o));i=this.script("usual",e.map(s=>Do(s,o)))}return t.now>=0&&r.push(`${t.now}`,`${t.minTtlMs}`),{script:i,args:r}}general(e,t,r,i,o){let s=St(r),a=i?t.slice(0,1):t,d=a[0].map((c,u)=>Math.max(...a.map(m=>Do(m[u],s)))),l=[];for(let c of a)Sl(l,c,d,s);if(r.now>=0||t.length>1){let c=i?0:l.length/t.length;l.push(`${r.now}`,`${r.minTtlMs}`,`${c}`,o?"1":"0")}return{script:this.script(e,d),args:l}}script(e,t){let r=`${e} ${t}`,i=this.known.get(r);return i===void 0&&(i=Wr(Bf[e](this.steps(t))),this.known.set(r,i)),i}steps(e){return e.map((t,r)=>{let i=this.hasBan&&r===this.keyspaces.length-1;return{step:this.keyspaces[r].algorithm.lua,given:t,isBan:i}})}composeFixed(e){let t=e.map(({limit:o})=>o.constants(0)),r=this.steps(t.map(({length:o})=>o)),i=Kr(r,t);if(!Uo.has(i)){if(vl===Gf)return null;vl+=1}return Wr(i)}};xl=new WeakMap});function Hr(n,e,t,r=!1){let{buffer:i,byteOffset:o,byteLength:s}=Array.isArray(n)?n[0]:n,a=Array.isArray(n)?n.slice(1):[],d=new DataView(i,o,s),l=d.getFloat64(0,!0),c=[],u=0;for(let p of e)u+=p.length+(t===void 0?0:1);let m=Br+Fr*u,f=Br;for(let p of e){let g=[],w,v=p,S;for(let H=0;H<p.length+(t===void 0?0:1);H+=1){let{algorithm:Q}=p[H]?.limit??t;d.getFloat64(f,!0)===-1/0&&(w=Jf(a.shift(),l)),Q.keepsLog&&(v=p.map(Yf));let J=Q.keepsLog?Qf(d,f,l):El(d,f,l);if(g.push(J),Cl.has(d.getFloat64(f+24,!0))){let je=Al(d,m);m+=Ol,Q.keepsLog?(S??=[],S[H]=je):J.terms=je}f+=Fr}let k=t&&{limit:t,state:g.pop()},Ee=w===void 0&&qn(g,v,l,k,r);S?.forEach((H,Q)=>{let J=g[Q];J.terms=H,We(J,p[Q].limit,l)}),c.push(w??{admitted:Ee,at:l,source:"store",outcomes:g,ban:k?.state})}return c}function Ml(n,e,t){let{buffer:r,byteOffset:i,byteLength:o}=n,s=new DataView(r,i,o),a=s.getFloat64(0,!0),d=[],l=Br+Fr*e.length;for(let[c,u]of e.entries()){let m=Br+c*Fr,f=El(s,m,a),{keepsLog:p,reserves:g}=u.limit.algorithm;if(!g&&Cl.has(s.getFloat64(m+24,!0))&&(f.terms=Al(s,l),l+=Ol),!(f.blockedUntil>a||u.cost<=0&&u.reserved===void 0))if(g){let{key:w,limit:v,reserved:S}=u,k={key:w,limit:v,cost:s.getFloat64(m+24,!0)};Jt(f,k,a,S||t<0?a:t,d,c)}else if(p){let{a:w,b:v,c:S}=f,{units:k}=We(f,u.limit,a);v<w&&d.push({place:c,before:w,remaining:v,resetMs:S,limit:k,at:a})}else Jt(f,u,a,t<0?a:t,d,c)}return d}function Al(n,e){let t=a=>n.getFloat64(e+8*a,!0),r=a=>t(a)<0?void 0:t(a),[i,o,s]=[t(0),t(1),t(4)];return{override:i>0?{until:i,limit:o,burst:r(2),maxDelayMs:r(3)}:void 0,grants:s>0?[{until:t(5),units:s,id:""}]:[]}}function Yf(n){let{keepsLog:e}=n.limit.algorithm;return e?{...n,cost:0,limit:Xf}:n}function Qf(n,e,t){let r=n.getFloat64(e,!0),i=n.getFloat64(e+16,!0),o=new T;return o.admitted=r>=0,o.remaining=o.admitted?r:-1-r,o.resetMs=n.getFloat64(e+8,!0),o.effectiveMs=i<0?1/0:i,o.retryAfterMs=o.admitted?0:o.effectiveMs,Zf.has(n.getFloat64(e+24,!0))&&(o.blockedUntil=t+o.resetMs),o}function El(n,e,t){let r=new T,i=n.getFloat64(e,!0),o=n.getFloat64(e+8,!0);return i<0?(r.blockedUntil=t+o,r):(r.a=i,r.b=o,r.c=n.getFloat64(e+16,!0),r)}function Jf(n,e){let t=String(n);return t.includes("clocks of this process")&&eh(Date.now()-e),Rr(new Error(t),!1)}function eh(n){let e=`${Math.round(Math.abs(n)/36e5)} h ${n>0?"ahead of":"behind"}`;R("SLUICE_CLOCK_SKEW",`The clock of this process is ${e} that of Redis. So Redis does not decide policies whose window is a day, a week or a month of the calendar: onStoreError does, in this process alone. Set the clock right.`)}var Br,Fr,Ol,Xf,Cl,Zf,Wo=h(()=>{"use strict";$();X();fe();B();Po();Br=8,Fr=32,Ol=48;Xf={decide(){},commit(){}};Cl=new Set([-1,-2]),Zf=new Set([1,-2])});var ah,qr,Ll=h(()=>{"use strict";M();ah=100,qr=class{constructor(){this.workedMs=0;this.freeMs=0;this.isWorking=!0;this.since=performance.now()}pause(){this.count(),this.isWorking=!1}resume(){this.count(),this.isWorking=!0}async rest(){this.pause();let e=Math.min(this.workedMs-this.freeMs,ah);e>=1&&await rs(e)}count(){let e=performance.now();this.isWorking?this.workedMs+=e-this.since:this.freeMs+=e-this.since,this.since=e}}});var _l={};yn(_l,{RedisInspection:()=>Go});function uh(n){return!(n instanceof Error)||n instanceof y?!1:/user_script:|Error running script/.test(n.message)}function Il(n){return n.replace(/[\\*?[\]^-]/g,"\\$&")}function mh(n){let e=[],t=0;for(let r of n){let i=Zn([r.keyspace]),o=e.at(-1);t+=i,o!==void 0&&o.length<dh&&!nn(t)?o.push(r):(e.push([r]),t=i)}return e}function fh(n){return $l(n,({prefix:e,key:t})=>`${e} ${t}`)}function hh(n){return $l(n,({keyspace:e})=>e.limit.algorithm)}function $l(n,e){let t=new Map;for(let r of n){let i=t.get(e(r))??[];t.set(e(r),i),i.push(r)}return[...t.values()]}var Pl,dh,lh,ch,Go,Nl=h(()=>{"use strict";Pt();A();wr();So();$e();Ll();Qn();wt();Er();Ko();Wo();Pl=500,dh=100,lh=new L("return KEYS[1]"),ch=new L("return redis.call('GET', KEYS[1])"),Go=class{constructor(e,t,r,i){this.scripts=new Map;this.terms=i,this.connection=e,this.scans=t,this.inspection=new gt(r)}async*entries(){let{fail:e,isCluster:t}=this.connection;await this.terms.settled();let r=await this.keyPrefix(),i=this.pattern(r);for(let o of await this.scans().catch(e)){let s="0";do{let a=new qr,[d,l]=await o(s,i,Pl).catch(e);a.pause(),s=d;let c=[],u=l.flatMap(p=>this.parse(p,r,c)??[]),m=hh(u).flatMap(mh).flatMap(p=>t?fh(p):[p]);a.resume(),await Promise.all(this.inspection.untold(u).map(p=>this.tell(p)));let f=await Promise.all(m.map(p=>this.read(p,c)));a.pause();for(let p of f.flat())this.inspection.note(p),yield p;this.inspection.progress(Pl,c),s!=="0"&&await a.rest()}while(s!=="0")}}async tell({prefix:e,keyspace:t}){let r={script:ch,args:[]},i=o=>o===null?void 0:String(o);t.learn(await this.connection.run(r,[$n(e,t.name)],i))}async keyPrefix(){let e=`${this.inspection.prefix}:{-}`;return(await this.connection.run({script:lh,args:[]},[e],String)).slice(0,-e.length)}pattern(e){let{prefix:t,key:r}=this.inspection,i=r===void 0?"*":`*{${Il(Ae(r))}}:*`;return`${Il(e+t)}[.:]${i}`}parse(e,t,r){if(!e.startsWith(t)||e.endsWith(Lt))return;let i=e.slice(t.length),o=this.inspection.find(i);return o===null&&r.push(i),o?{...o,name:i}:void 0}async read(e,t){try{return await this.readTogether(e,t)}catch(r){if(!uh(r))throw r;return e.length>1?(await Promise.all(e.map(i=>this.read([i],t)))).flat():(t.push(e[0].name),[])}}async readTogether(e,t){let r=e.map(({key:c,keyspace:u})=>[{key:c,limit:u.limit,cost:0}]),{algorithm:i}=e[0].keyspace.limit,o=this.scripts.get(i)??new xt([{algorithm:i}]);this.scripts.set(i,o);let s=o.peek(r,this.connection.time()),a=e.map(({name:c})=>c),d=c=>Hr(c,r);return(await this.connection.runForNumbers(s,a,d)).flatMap((c,u)=>{let m=e[u];return c instanceof Error?(t.push(m.name),[]):vo(m,c.outcomes[0],c.at)})}}});var Wh={};yn(Wh,{createLimiter:()=>nc,redisStore:()=>zr});module.exports=uc(Wh);j();A();oi();_t();M();function Ks(n,e,t){if(t===void 0)return 1;if(typeof t=="number")return t;let r=typeof t=="string"?new Date(t):new Date(e.local(t.getTime()));return n==="month"?r.getUTCDate():r.getUTCDay()||7}function Ws(n){return/^\d{4}-\d\d-\d\d$/.test(n)&&new Date(n).toJSON()?.slice(0,10)===n}Dt();En();A();j();at();X();var Fc=1e3;function Rn(n,e){e>=Fc||R("SLUICE_WINDOW_SHORT",`Write ${n}: '${e}s' or ${n}: '${e}ms': a number is milliseconds.`,`${n}: ${e}`)}function se(n,e,t){return{form:"integer",range:`${Fs(n)} \u2026 ${Fs(e)} ${t}`,typescript:"number",check:(r,i,o=e)=>W(r,i,n,o)}}function dt(n=1,e=Ut,t){return{form:"duration",range:`${n} ms \u2026 ${Li(e)}`,typescript:"Duration",check:(r,i)=>ke(r,i,n,e,t)}}function Hs(){let n=dt();return{...n,form:`duration, or ${Nt.map(e=>Kt(F(e))).join(", ")}`,typescript:"Duration | CalendarUnit",check(e,t){let r=Nt.find(o=>o===t);if(r!==void 0)return r;let i=n.check(e,t);return typeof t=="number"&&Rn(e,i),i}}}var Vs={form:"text",range:"an IANA time zone such as `'Europe/Berlin'`",typescript:"string",check(n,e){try{if(typeof e=="string")return new we(e)}catch{}let t="an IANA time zone that this Node knows",r="Write a name such as 'Europe/Berlin', or 'UTC'.";throw new y({code:"SLUICE_OPTION_VALUE",option:n,expected:t,received:e,fix:r})}},qs={form:"integer, 1 \u2026 31, a date such as `'2026-11-21'`, or a `Date`",typescript:"Anchor | undefined",check(n,e){if(typeof e=="number")return W(n,e,1,31);if(typeof e=="string"&&Ws(e)||e instanceof Date&&!Number.isNaN(e.getTime()))return e;let t="a day of the month from 1 to 31, a date, or a Date",r="Write the day on which the plan renews: 15, or '2026-11-15'.";throw new y({code:"SLUICE_OPTION_VALUE",option:n,expected:t,received:e,fix:r})}},Pi=8,zs={form:`array of 1 to ${Pi} shares`,range:"above 0, up to 1",typescript:"readonly number[]",check(n,e){let t=`Write ${n}: [0.8, 1] for 80 % of the limit, and all of it.`;if(Array.isArray(e)&&e.length>0&&e.length<=Pi){let i=e.map((o,s)=>si(`${n}[${s}]`,o,"above 0, up to 1",t));return[...new Set(i)].sort((o,s)=>o-s)}let r=`an array of 1 to ${Pi} shares of the limit`;throw new y({code:"SLUICE_OPTION_TYPE",option:n,expected:r,received:e,fix:t})}};function Ii(n,e){return{form:"number",range:n,typescript:"number",check:(t,r)=>si(t,r,n,e)}}var lt={form:"`true` or `false`",typescript:"boolean",check:wn};function ct(n,e){let t=n.map(r=>F(r));return{form:Hc(t.map(Kt)),typescript:e??t.join(" | "),check:(r,i)=>Je(r,i,n)}}function Ln(n,e,t){return{form:"text",range:e,typescript:"string",check(r,i){if(typeof i=="string"&&n.test(i))return i;throw new y({code:"SLUICE_OPTION_VALUE",option:r,expected:e,received:i,fix:t})}}}function $i(n){let e=`text of at least ${n} characters`;return{form:e,typescript:"string",check(t,r){if(typeof r=="string"&&r.length>=n)return r;throw new y({code:"SLUICE_SECRET",option:t,expected:e,said:typeof r=="string"?`${r.length} characters`:typeof r,fix:"Take it from the environment, the same in every process."})}}}function Y(n,...e){let t=e.map(r=>`, or ${F(r)}`).join("");return{form:`function ${Kt(n)}${e.map(r=>`, or ${Kt(F(r))}`).join("")}`,check:(r,i)=>e.includes(i)?i:Te(r,i,`${n}${t}`)}}var Wt={form:"function `() => integer ms since the epoch`",typescript:"() => number",check:(n,e)=>ls(e)};function js(n,e){let{form:t,check:r}=ct(n);return{form:`${t}, or a function ${Kt(e)}`,check:(i,o)=>typeof o=="function"?o:r(i,o)}}var ae={check:(n,e)=>e};function Hc(n){return n.length<2?n.join():`${n.slice(0,-1).join(", ")} or ${n.at(-1)}`}function Kt(n){return`\`${n}\``}function Fs(n){if(n===Number.MAX_SAFE_INTEGER)return"2^53 \u2212 1";let e=Math.log10(n);return e>=6&&Number.isInteger(e)?`10^${e}`:String(n).replace(/\B(?=(\d{3})+$)/g,",")}A();var Zs=["requests","tokens","input-tokens","output-tokens","content-bytes"],Xs=Zs.map(n=>`'${n}'`),Ys="a name of your own, 1 to 64 of a-z 0-9 -",Qs={form:`${Xs.map(n=>`\`${n}\``).join(", ")}, or ${Ys}`,typescript:"Unit",check(n,e){let t=typeof e=="string"?Zs.find(r=>qc(r,e)):void 0;if(t===void 0?Vc(e):e===t)return e;throw new y({code:typeof e=="string"?"SLUICE_OPTION_VALUE":"SLUICE_OPTION_TYPE",option:n,expected:`${Xs.join(", ")}, or ${Ys}`,received:e,fix:t===void 0?"Name what the policy counts in lower case, such as rows.":`Write '${t}', or another name.`})}};function Vc(n){return typeof n!="string"||n==="concurrent-requests"?!1:/^[a-z][a-z0-9-]{0,63}$/.test(n)}function qc(n,e){let t=r=>r.toLowerCase().replace(/s?[^a-z]+|s$/g,"");return t(n)===t(e)}var zc={name:{type:Js("Choose a short name such as burst: header fields contain it."),default:"default",onlyInPolicies:!0},limit:{type:se(0,Number.MAX_SAFE_INTEGER,"units"),required:!0,perRequest:!0,aliases:"max points",peers:{"limit: 10, window: '10s'":"limiter"}},window:{type:Hs(),required:!0,perRequest:dt(),aliases:"windowMs timeWindow ttl",peers:{"window: ms, or text such as '1m'":"duration"}},timeZone:{type:Vs},anchor:{type:qs,perRequest:!0},algorithm:{type:ct($t,"AlgorithmName"),default:Us,peers:{"algorithm: 'leaky-bucket', with maxDelay":"delayMs delayAfter","algorithm: 'leaky-bucket'":"execEvenly"}},burst:{type:se(1,1e12,"units")},maxDelay:{type:dt(0),aliases:"maxDelayMs"},unit:{type:Qs,default:"requests"},alertAt:{type:zs},reserve:{type:lt,default:!1}},jc={concurrent:{type:se(0,1e3,"requests"),required:!0,perRequest:!0},hold:{type:dt(1e3,36e5),default:"30s"}},Xc={key:{type:js(["ip","user"],"(request) => text or a number"),default:"ip",inPolicies:!0,peers:{"key: 'ip', 'user' or (request) => text":"keyGenerator getTracker generateKey id"}},shard:{type:Y("(request) => text or a number"),inPolicies:!0},cost:{type:se(0,Number.MAX_SAFE_INTEGER,"units"),default:1,perRequest:!0,inPolicies:!0},settle:{type:Y("(request, response) => cost"),inPolicies:!0,peers:{"settle: (request, response) => the actual cost":"skipSuccessfulRequests skipFailedRequests requestWasSuccessful"}}},Yc={policies:{type:ae,peers:{"policies: [{ name, limit, window }]":"identifier throttlers"}}},Zc={store:{type:ae,perRoute:!1,peers:{"store: the client of Redis or Valkey itself":"redis driver db storeClient storage","store: memoryStore({ maxKeys })":"cache"}},prefix:{type:Ln(/^[\w.:-]{1,64}$/,"1 to 64 characters of A-Z a-z 0-9 . _ : -","Choose a namespace such as 'my-api'."),default:"sluice",perRoute:!1,aliases:"nameSpace namespace keyPrefix"},ban:{type:ae,peers:{"ban: { after: 10, within: '1m', for: ['10m'] }":"blockDuration"}},deadline:{type:dt(1,6e4,"Choose a time that your clients can wait, such as 100 ms."),default:"100ms",peers:{"deadline: '100ms'":"timeout timeoutMs"}},onStoreError:{type:ct(["local","allow","deny"]),default:"local",peers:{"onStoreError: 'local', 'allow' or 'deny'":"skipOnError passOnStoreError insuranceLimiter"}},localShare:{type:Ii("above 0, up to 1","Give one process its share of the load: 0.25 for four processes."),default:1},refusalCache:{type:lt,peers:{refusalCache:"ephemeralCache inMemoryBlockOnConsumed inMemoryBlockDuration"}},maxWaiting:{type:se(0,1e6,"requests"),default:1e3,aliases:"maxQueueSize"}},Qc={name:{type:Js("Choose a short name such as login or api.")},onDecision:{type:Y("(decision, request, key)"),peers:{"onDecision, for every decision":"onLimited onLimitReached onExceeded onExceeding onBanReach analytics"}},onThreshold:{type:Y("(event)")},keySecret:{type:$i(16)}},Jc={user:{type:Y("(request) => id")},trustProxy:{type:ae},ipv6Prefix:{type:se(32,128,"bits"),default:56,aliases:"ipv6Subnet ipv6SubnetPrefix"},skip:{type:Y("(request, key) => boolean"),peers:{"skip: (request) => true or false":"skipIf ignoreUserAgents"}},allow:{type:ae,peers:{"allow: addresses, CIDRs and keys; for a function, skip":"allowList whitelist whiteList"}},deny:{type:ae,peers:{"deny: addresses, CIDRs and keys":"blacklist blackList enableProtection"}},headers:{type:ae,default:["draft-11","draft-6"],peers:{"headers: 'draft-11', 'draft-6', 'legacy' \u2026 or false":"standardHeaders legacyHeaders draft_polli_ratelimit_headers enableDraftSpec addHeaders addHeadersOnExceeding setHeaders","headers: false":"disableHeader"}},retryAfterJitter:{type:Ii("from 0 to 1"),default:.1},partitionSecret:{type:$i(16)},statusCode:{type:ct([429,503]),default:429,peers:{"statusCode: 429 or 503":"status"}},respond:{type:Y("(decision, request, response, key)","throw","continue"),peers:{"respond: (decision, request, response) => \u2026, or 'throw'":"message handler errorMessage errorResponseBuilder","respond: 'throw'":"throw"}},dryRun:{type:lt,default:!1}},eu={address:{type:Y("(context)")},routes:{type:ae},hook:{type:ct(["onRequest","preValidation","preHandler"]),default:"onRequest"}},tu={maxKeys:{type:se(1,1e8,"keys"),default:1e6},clock:{type:Wt}},nu={clock:{type:Wt},onReadOnly:{type:Y("()")}},ru={schema:{type:Ln(/^[^\0]{1,63}$/,"1 to 63 characters","Give the name of the schema, without quotes."),default:"public"},logged:{type:lt,default:!1},clock:{type:Wt}},iu={driver:{type:Y("new (path)")},durable:{type:lt,default:!1},maxBytes:{type:se(1048576,1099511627776,"bytes"),default:1073741824},clock:{type:Wt}},b={policy:zc,concurrency:jc,requestPolicy:Xc,policies:Yc,store:Zc,events:Qc,http:Jc,adapter:eu,memoryStore:tu,redisStore:nu,postgresStore:ru,sqliteStore:iu};function Js(n){return Ln(/^[\x20-\x7e]{1,128}$/,"1 to 128 printable ASCII characters",n)}var ra={...b.policy,...b.concurrency},ea=D(ra),Ni=D(ra,({onlyInPolicies:n})=>!n),ta=[...Ni,...D(b.policies),...D(b.store),...D(b.events)],_i={...b.requestPolicy,...b.http},na=({perRoute:n})=>n!==!1,G={limiter:ta,policy:ea,onlyPolicy:Ni,http:[...ta,...D(_i)],httpPolicy:[...ea,...D(_i,({inPolicies:n})=>n!==void 0)],route:[...Ni,...D(b.policies),...D(b.store,na),...D(b.events),...D(_i,na)],memoryStore:D(b.memoryStore),redisStore:D(b.redisStore),postgresStore:D(b.postgresStore),sqliteStore:D(b.sqliteStore)};function D(n,e=()=>!0){return Object.keys(n).filter(r=>e(n[r]))}M();ii();var ia={"options are always checked":"validate","warnings are process warnings":"logger","it is always the time to wait":"retryAfter","it is always rateLimit":"requestPropertyName","skip and routes exempt some routes":"global","a refusal costs nothing":"continueExceeding exponentialBackoff","routes that share a hook share their quota":"groupId"};function ou(n){for(let e of Object.values(b))for(let[t,{aliases:r="",peers:i={}}]of Object.entries(e)){let o=r.split(" ").includes(n)||Di(n,i);if(o)return{option:t,instead:o}}}function oa(n,e){let t=ou(n);if(t?.instead!==!0)return t?.instead;let{option:r}=t;return typeof e=="number"?`${r}: ${su(e)}`:typeof e=="string"&&ri(e)?`${r}: ${F(e)}`:r}function Di(n,e){return Object.keys(e).find(t=>e[t]?.split(" ").includes(n))}function su(n){return Number.isInteger(n)?String(n).replace(/\B(?=(\d{3})+$)/g,"_"):F(n)}function U(n,e,t){for(let r of Object.keys(e)){if(t.includes(r))continue;let i=e[r],o=au(n,r,i,t);throw new y({code:"SLUICE_OPTION_UNKNOWN",option:n===""?r:`${n}.${r}`,expected:`one of the options ${t.join(", ")}`,received:i,fix:o??"Remove it or correct its name.",reason:o===void 0?`The options here are ${t.join(", ")}.`:`There is no option ${r} here.`})}}function au(n,e,t,r){let i=oa(e,t),[o=""]=/^\w+/.exec(i??"")??[];if(i!==void 0&&r.includes(o))return`Write ${i}.`;let s=Di(e,ia);if(s!==void 0)return`Remove it: ${s}.`;if(r.includes("policies")&&G.onlyPolicy.includes(e))return`Move ${e} into an entry of policies.`;let a=n!==""&&G.httpPolicy.includes(e);if(G.http.includes(e)&&!a)return n!==""||G.limiter.includes(e)?"Move it to the options of the limiter.":"Remove it: only adapters have it.";let d=bn(e,r);return d&&`Correct its name (did you mean '${d}'?).`}A();function C(n,e,t,r){return new y({code:"SLUICE_OPTION_CONFLICT",option:n,expected:e,received:t,fix:r})}A();j();Ki();Ci();_t();Ti();A();_t();var la=[...new Set($t.flatMap(n=>Object.keys(be[n].options)))];function ca(n){return $t.filter(e=>Object.hasOwn(be[e].options,n))}function V(n,e,t,r){let i=Object.entries(n).map(([o,s])=>{let a=t[o];return a===void 0&&r!==void 0?[o,r[o]]:[o,lu(s,du(e,o),a)]});return Object.fromEntries(i)}function ua(n,e){return U("",e,G[n]),V(b[n],"",e)}function du(n,e){return n===""?e:`${n}.${e}`}function lu(n,e,t){let r=t===void 0?n.default:t;if(!(r===void 0&&n.required===void 0))return n.perRequest&&typeof r=="function"?r:n.type.check(e,r)}$e();_n();var mu=[...Object.keys(b.policy).filter(n=>n!=="name"&&n!=="alertAt"),"cost","settle"],sg=Object.keys(b.concurrency);function ga(n,e){let t=a=>n===""?a:`${n}.${a}`,{concurrent:r,hold:i,reserve:o}=e;if(r===void 0){if(i!==void 0&&o!==!0)throw ya(t("hold"),i,"Remove hold, or set concurrent or reserve.");return e}for(let a of mu){let d=e[a];if(d!==void 0)throw ya(t(a),d,`Remove ${a}, or give it to a policy of its own.`)}let s=V(b.concurrency,n,e);return{...e,limit:s.concurrent,window:s.hold}}function ya(n,e,t){return C(n,"either concurrent, perhaps with hold, or limit and window",e,t)}Dt();En();A();var ba=16,fu=6e4,wa,Nn=class{constructor(e,t){this.known=new Map;let{window:r,timeZone:i,anchor:o}=t;if(this.path=e,this.values=t,this.unit=typeof r=="string"?r:void 0,this.varies=typeof r=="function",i!==void 0&&this.unit===void 0)throw this.conflict("timeZone","window: 'day', 'week' or 'month' with it",r);if(o!==void 0&&(this.unit===void 0||this.unit==="day"))throw this.conflict("anchor","window: 'week' or 'month' with it",r);this.initial=this.varies?{windowMs:fu,calendar:void 0,limits:new Map}:this.of(void 0,void 0)}of(e,t){let{values:r,unit:i}=this;if(i===void 0){let c=this.varies?this.checkLength(e):r.window;return this.known.get(c)??this.add(c,c)}wa??=new we("UTC");let{timeZone:o=wa}=r,s=typeof r.anchor=="function",a=this.checkAnchor(s?t:r.anchor),d=i==="day"?1:Ks(i,o,a);return this.known.get(d)??this.add(d,Ri[i],new st(i,o,d,s))}get all(){return[...this.known.values()]}add(e,t,r){let i={windowMs:t,calendar:r,limits:new Map};return this.known.set(e,i),i}checkLength(e){let t=`${this.path}window`,r=b.policy.window.type.check(t,e);if(typeof r=="string")throw new y({code:"SLUICE_OPTION_VALUE",option:t,expected:"a duration, since the window depends on the request",received:e,fix:"Return a duration such as '1d', or make a limiter for each unit of the calendar."});if(this.known.size<ba||this.known.has(r))return r;throw new y({code:"SLUICE_OPTION_RANGE",option:t,expected:`at most ${ba} different lengths, because each has a quota of its own`,received:e,fix:"Choose the length by what you know of the client, such as its plan, not by what it sends."})}checkAnchor(e){if(e===void 0)return;let t=b.policy.anchor.type.check(`${this.path}anchor`,e);if(this.unit==="month"||typeof t!="number")return t;throw this.conflict("anchor","a date, whose weekday weeks begin on",e)}conflict(e,t,r){return C(this.path+e,t,r,`Remove ${e}, or set what it belongs to.`)}};var hu=1e15,pu=1e3,Ft=class{constructor(e,t){this.localShares=new WeakMap;let r=ga(e,t),i=r!==t;this.values=V(b.policy,e,r);let{name:o,limit:s,algorithm:a,unit:d,anchor:l,alertAt:c,reserve:u}=this.values;this.path=e,this.name=o,this.limitOption=i?"concurrent":"limit",this.window=new Nn(e===""?"":`${e}.`,this.values);let m=this.window.unit===void 0?a:"fixed-window";this.counting=i?Ie:be[m],this.reserves=u,this.algorithm=u?It(this.counting):this.counting;let{hold:f}=t;u?this.holdMs=b.concurrency.hold.type.check(this.at("hold"),f??b.concurrency.hold.default):this.holdMs=i?this.windowMs:void 0,this.holdsSlots=this.algorithm.holdsSlots===!0,this.unit=i?"concurrent-requests":d,this.alertAt=c,this.checkAlgorithm(t);let p=u?this.holdMs:void 0,g=typeof s=="function";this.params={burst:this.own("burst"),maxDelayMs:this.own("maxDelay"),holdMs:p,varies:g},!g&&typeof l!="function"&&!this.window.varies&&(this.compiledLimit=this.limitFor())}get windowMs(){return this.window.initial.windowMs}get windowVaries(){return this.window.varies}get limit(){let{limit:e}=this.values;return typeof e=="number"?e:void 0}anyLimit(e){if(this.compiledLimit!==void 0)return this.compiledLimit;let{initial:t,varies:r}=this.window,i=r&&e!==void 0?this.window.of(e,void 0):t;return this.limitIn(i,this.limit??this.params.burst??1)}limitFor(e,t,r){return this.limitIn(this.window.of(r,t),this.limit??e)}someLimit(e,t){let r=this.limit??this.params.burst??1;return this.compiledLimit??this.limitIn(this.window.of(e,t),r)}anyLimits(){if(this.compiledLimit!==void 0)return[this.compiledLimit];let e=this.limit??this.params.burst??1;return this.window.all.map(t=>this.limitIn(t,e))}ownParams(e){let{burst:t,maxDelayMs:r}=this.params,{maxLimit:i}=this.algorithm,o=b.policy.limit.type.check("limit",e,i);return this.checkProportions({...this.params,limit:o,windowMs:this.windowMs}),{limit:o,burst:t,maxDelayMs:r}}localShareOf(e,t){let r=this.localShares.get(e);if(r===void 0){let{params:i}=e,o=i.burst===void 0?void 0:ka(i.burst,t);r=this.compile({...i,limit:ka(i.limit,t),burst:o}),this.localShares.set(e,r)}return r}windowEndOf({windowMs:e},t,r){return this.counting.name==="fixed-window"?t+r:(Math.floor(t/e)+1)*e}assertStatic(){let e=Object.entries(this.values).find(([,i])=>typeof i=="function");if(e===void 0)return;let[t,r]=e;throw new y({code:"SLUICE_OPTION_TYPE",option:this.at(t==="limit"?this.limitOption:t),expected:"the same value for every request",received:r,fix:"Create a limiter for each value: only adapters have a request to call the function with."})}space(e=this.anyLimit()){let{windowMs:t,calendar:r}=e.params;return fa({algorithm:this.algorithm.name,windowMs:this.holdsSlots?0:t,calendar:r?.name,policy:this.name})}get terms(){let{params:e}=this.keyspace();return e===void 0?"a function of the request":Bt(e)}keyspace(e=this.anyLimit()){let t=this.limit===void 0?void 0:e.params,{algorithm:r}=e;return{name:this.space(e),algorithm:r,limit:this.compiledLimit,params:t}}limitIn({windowMs:e,calendar:t,limits:r},i){let o=r.get(i);if(o===void 0){let{maxLimit:s}=this.algorithm,a=b.policy.limit.type.check(this.at(this.limitOption),i,s),d={...this.params,limit:a,windowMs:e,calendar:t};this.checkProportions(d),o=this.compile(d),r.size===pu&&r.clear(),r.set(i,o)}return o}compile(e){let t=e.calendar===void 0?this.counting:Gt;return(this.reserves?It(t):t).compile(e)}checkProportions({limit:e,windowMs:t,burst:r=0,maxDelayMs:i=0}){if(e!==0){if(r/e*t>hu)throw new y({code:"SLUICE_OPTION_RANGE",option:this.at("burst"),expected:"a burst that refills within 10^15 ms",received:r,fix:"Lower burst, or raise limit."});if(i/t*e>=1e12)throw new y({code:"SLUICE_OPTION_RANGE",option:this.at("maxDelay"),expected:`a delay in which fewer than ${1e12} units drain`,received:i,fix:"Lower maxDelay, or limit."})}}own(e){let{algorithm:t,values:r}=this,i=t.options[e]==="limit"?r.limit:t.options[e];return r[e]===i?void 0:r[e]}at(e){return this.path===""?e:`${this.path}.${e}`}checkAlgorithm(e){if(e.algorithm!==void 0&&e.algorithm!==this.counting.name)throw C(this.at("algorithm"),"'fixed-window', which windows of the calendar are",e.algorithm,"Remove algorithm, or write the window as a duration such as '1d'.");for(let r of la){if(e[r]===void 0)continue;let i=ca(r);if(!i.some(o=>o===this.counting.name))throw C(this.at(r),`algorithm: '${i[0]}' with it`,this.counting.name,`Remove ${this.at(r)}, or choose algorithm: '${i[0]}'.`)}let{counting:t}=this;if(this.reserves&&(t.keepsLog||t.options.maxDelay!==void 0))throw C(this.at("reserve"),"a fixed window, a sliding window or a token bucket with it",t.name,`Remove ${this.at("reserve")}, or choose another algorithm.`)}};function ka(n,e){return n===0?0:Math.max(1,Math.floor(n*e))}var va=2e4;function Sa(n,e){let{policies:t}=n;if(t===void 0)return[new Ft("",{...n,name:void 0})];let r=G.onlyPolicy.find(o=>n[o]!==void 0);if(r!==void 0)throw C(r,"either policies, or the options of a single one",n[r],`Move ${r} into an entry of policies.`);if(!Array.isArray(t)||t.length===0||t.length>32)throw new y({code:"SLUICE_OPTION_TYPE",option:"policies",expected:"an array of 1 to 32 policies",received:t,fix:"Write policies: [{ name: 'burst', limit: 10, window: '1s' }]."});let i=t.map((o,s)=>{let a=`policies[${s}]`;return U(a,N(a,o,"a policy"),e),new Ft(a,o)});return yu(i),gu(i),i}function yu(n){let e=n.map(({name:r})=>r.toLowerCase()),t=e.findIndex((r,i)=>e.indexOf(r)<i);if(t!==-1)throw C(`policies[${t}].name`,"a name of its own for each policy, whatever the case",n[t]?.name,"Give each policy a different name, such as burst and daily.")}function gu(n){let e=0;for(let{compiledLimit:t}of n){let{keepsLog:r,maxEntries:i}=t?.algorithm??{};e+=i??(r?t?.units:0)}if(!(e<=va))throw C("policies",`sliding logs with limits of at most ${va} together`,e,"Lower their limits, or choose 'sliding-window' for the largest: its state has three numbers.")}$();X();_e();var Ne=96;function De(n){let e=n.indexOf("/"),t=new Uint16Array(8);if(!Dn(e<0?n:n.slice(0,e),t))return;if(e<0)return{network:t,prefix:128};let r=vu(n.slice(e+1));if(r===void 0)return;let i=n.includes(":")?r:r+Ne;if(!(i>128||ne(t)&&i<=Ne))return{network:t,prefix:i}}function Un({network:n,prefix:e}){let t=n.map((r,i)=>r&ji(e,i));return ne(n)?`${qi(t)}/${e-Ne}`:`${zi(t)}/${e}`}function ji(n,e){return 65535<<16-Math.min(16,Math.max(0,n-16*e))&65535}function vu(n){let e=0;for(let t=0;t<n.length&&e<=128;t++){let r=n.charCodeAt(t)-48;if(r<0||r>9||r===0&&e===0)return;e=e*10+r}return e>=1&&e<=128?e:void 0}_e();de();j();at();M();A();_e();var Xi=1e4,Ma={ipv4:Ne+8,ipv6:16},Ca=16;function Aa(n){let e=typeof n=="string"?De(n):void 0,t=e&&(ne(e.network)?Ma.ipv4:Ma.ipv6);if(e!==void 0&&e.prefix>=t)return e;throw new y({code:"SLUICE_CIDR",option:"key",expected:"a network such as 203.0.113.0/24 or 2001:db8::/32, of at least 8 bits for IPv4 and 16 for IPv6",received:n,fix:"Correct the address and the prefix. To refuse a larger network, use the option deny."})}function Yi(n){return Array.isArray(n)?n.map(Aa):[Aa(n)]}function Ue(n){return n.slice(0,Ca)}function Kn(n,e){let t=new Map;for(let r of n.slice(Ca).split(`
`)){let[i="",o]=r.split(" ");Number(o)>e&&t.size<Xi&&t.set(i,Number(o))}return t}function Ea(n){if(n.size===0)return"";let e=[ie(),ie()].map(r=>r.toString(16).padStart(8,"0")),t=[...n].map(([r,i])=>`
${r} ${i}`);return e.join("")+t.join("")}function Ta(n,e,t){for(let r of e)n.set(Un(r),t);if(n.size<=Xi)return e.length>0;throw new y({code:"SLUICE_NETWORKS_FULL",option:"key",expected:`at most ${Xi} blocked networks`,said:`${n.size} with those that are blocked`,fix:"End the blocks that are no longer needed, or block larger networks in place of many small ones."})}le();de();A();j();function Gn(n){return b.requestPolicy.cost.type.check("cost",n)}var Pa=["limit","window","anchor"],Ia=["address",...Pa],La=["cost",...Ia],ce={peek:Ia,consume:La,wait:[...La,"maxWait","signal","priority"],settle:["at","source","remaining",...Pa],block:["window","network"]};function ue(n,e){if(n!==void 0){for(let t in N("options",n,"{ cost: 5 }"))if(!e.includes(t))throw new y({code:"SLUICE_OPTION_UNKNOWN",option:t,expected:`one of the options ${e.join(", ")}`,received:n[t],fix:"Remove it or correct its name."})}}function Bn(n){if(typeof n=="string"&&n!=="")return n;throw new y({code:"SLUICE_KEY",option:"key",expected:"text of at least one character that identifies a client",received:n,fix:"Pass the text that identifies the client. Without it, all clients would share one quota."})}function $a(n,e,t,r){let i=e==="async"?Promise.resolve():void 0,o=t===void 0?i:null,s,a=(l=s)=>{if(o!==null)return o;l!==void 0&&(s=Gn(l));let c=r(l),u=t?.release();return o=q(c)||q(u)?Su(c,u):void 0,q(o)&&o.catch(()=>{o=null}),o},d=()=>{let l=a();return q(l)?l.catch(()=>{}):l};return{...n,settle:e==="async"?async l=>a(l):a,release:d,[Symbol.dispose]:()=>{d()},[Symbol.asyncDispose]:async()=>d()}}async function Su(...n){await Promise.all(n)}Zi();M();var Vt=Ze("sluice:decision"),ve=Ze("sluice:settle"),Qi=Ze("sluice:store"),qt=Ze("sluice:ban"),Fn=Ze("sluice:threshold"),zt=ni("sluice:consume"),Hn=ni("sluice:wait");de();fe();le();Yn();M();de();le();Qn();var rn;function io(){return rn??=(ie()*2**16+(ie()>>>16))*2**5,rn=rn===Number.MAX_SAFE_INTEGER?1:rn+1,rn}var Jn=class{constructor(e){this.renewed=new Set;this.isClosed=!1;this.holdMs=Math.min(...e.map(({holdMs:t})=>t)),this.periodMs=this.holdMs/3}close(){this.isClosed=!0,this.renewed.clear(),this.stop()}add(e){this.isClosed||(this.renewed.add(e),K?e.timer=Qe(setInterval(()=>this.renewOne(e),this.periodMs)):this.timer??=Qe(setInterval(()=>this.renewAll(),this.periodMs)))}delete(e){clearInterval(e.timer),this.renewed.delete(e),this.renewed.size===0&&this.stop()}stop(){clearInterval(this.timer),this.timer=void 0}renewOne(e){this.isClosed||e.isQuiet?e.abandon():e.renew()}renewAll(){for(let t of this.renewed)t.isQuiet&&t.abandon();let e=[...this.renewed];for(let t of new Set(e.map(r=>r.ledger))){let r=e.filter(o=>o.ledger===t),i=Ha(r.map(({charges:o})=>o));for(let o of i)ro(()=>t.change({kind:"renew",requests:o}))}}},er=class{constructor(e,t,r,i,o){this.state="renewed";this.isReported=!1;this.renewedAt=performance.now();this.all=e,this.ledger=t,this.charges=r,this.ended=i,this.activity=o,e.add(this)}get isQuiet(){return(this.activity?.quietMs()??0)>=this.all.holdMs}release(){if(this.state==="released")return;this.end("released");let e=({limit:i,slot:o})=>i.algorithm.holdsSlots&&o!==void 0;if(!this.charges.some(e))return;let t=ro(()=>this.ledger.change({kind:"settle",charges:Wn(this.charges)})),{whenFreed:r}=this.all;return r===void 0?t:P(t,()=>r(this.charges[0].key))}abandon(){this.state==="renewed"&&this.end("abandoned")}touch(){let{all:e,state:t}=this,r=K&&performance.now()-this.renewedAt>e.periodMs;e.isClosed||t==="released"||t==="renewed"&&!r||(t==="abandoned"&&e.add(this),this.state="renewed",this.renew())}renew(){this.renewedAt=performance.now(),ro(()=>this.ledger.change({kind:"renew",requests:[this.charges]}))}end(e){this.state=e,this.all.delete(this),this.isReported||this.ended(e),this.isReported=!0}};function ro(n){try{let e=n();return q(e)?e.then(qa,qa):void 0}catch{}}function qa(){}M();ht();X();de();le();Yn();var nr=class{constructor(e,t,r,i,o){this.policies=e,this.limiter=t,this.keySecret=r,this.dryRun=i,this.thresholds=o}get followUpsAreWatched(){return this.thresholds?.isWatched?!0:ve.hasSubscribers||Hn.hasSubscribers}decided(e,t,r,i,o=e.source){let{allowed:s,limit:a,remaining:d,resetMs:l,retryAfterMs:c,delayMs:u,policies:m,ban:f}=e,{limiter:p,dryRun:g}=this,w=o===e.source?"admitted":"skipped",v=g?"would_refuse":"refused";if(Vt.hasSubscribers){let S=Xn(e);Vt.publish({limiter:p,route:r,result:s?w:v,allowed:s,source:o,policy:S?.name,policies:m.map((k,Ee)=>({name:k.name,unit:k.unit,allowed:k.allowed,limit:k.limit,remaining:k.remaining,charged:s?t[Ee].cost:0,source:k.source})),limit:a,remaining:d,resetMs:l,retryAfterMs:c,delayMs:u,durationMs:i,banned:f!==void 0,keyHash:s?void 0:this.hash(S?.key)})}if(f?.began&&qt.hasSubscribers){let S=this.hash(m[0]?.key);qt.publish({limiter:p,route:r,endsMs:f.endsMs,dryRun:g,keyHash:S})}this.thresholds?.charged(e,t,r)}raised(e,t,r){let{thresholds:i}=this;if(i?.isWatched)return o=>{let s=t[o.place]?.source??"store";i.report(o,e[o.place],s,r)}}settled(e,t,r){if(!ve.hasSubscribers)return e;let i=this.settlement("cost",t,r);return q(e)?e.then(()=>ve.publish(i),o=>{throw ve.publish({...i,errorType:tr(o)}),o}):ve.publish(i)}released(e,t,r){if(!ve.hasSubscribers)return;let i=this.settlement(e,Wn(t),r);i.policies.length>0&&ve.publish(i)}consuming(e,t,r){let i=this.policies.map(({name:l})=>l),o={limiter:this.limiter,route:r,policies:i},s,a=()=>P(e(),l=>{s=l;let{allowed:c,source:u}=l;return{allowed:c,source:u,policy:Xn(l)?.name}}),d=t?zt.tracePromise(a,o):zt.traceSync(a,o);return P(d,()=>s)}waiting({delayMs:e,policies:t},r,i){if(!Hn.hasSubscribers)return i();let{name:o}=t.find(s=>s.delayMs===e);return Hn.tracePromise(i,{limiter:this.limiter,route:r,policy:o,delayMs:e})}settlement(e,t,r){let i=this.policies.flatMap(({name:o,unit:s},a)=>{let d=t[a].cost;return d===0?[]:[{name:o,unit:s,units:d}]});return{limiter:this.limiter,route:r,reason:e,policies:i,errorType:void 0}}hash(e){if(!(this.keySecret===void 0||e===void 0))return Jo(Qo(this.keySecret,e),"base64url")}};function za(n,e,t,r){n!==void 0&&mt(()=>n(e,t,r),Du)}function Du(n){R("SLUICE_ON_DECISION",`onDecision threw ${Se(n)}. The decision is not affected. Fix the callback.`)}var rr=class{constructor(e){this.isClosed=!1;this.policies=e.policies,this.store=e.store,this.events=e.events,this.bannedQuota=e.bannedQuota,this.networks=e.networks,this.maxWaiting=e.maxWaiting,this.ledgers=e.ledgers,this.held=e.held,this.onDecision=e.onDecision,this.releaseParts=e.release,this.singleUse=e.singleUse,this.request=e.store.mode==="sync"?[[]]:void 0}get isWatched(){let{thresholds:e}=this.events;return e?.isWatched?!0:Vt.hasSubscribers||qt.hasSubscribers}decide(e,t,r=zt.hasSubscribers){if(r){let d=this.store.mode==="async",l=()=>this.decide(e,t,!1);return this.events.consuming(l,d,t)}this.singleUse?.isRuledOut()&&(this.singleUse=void 0);let{networks:i}=this;i.dueAt!==1/0&&performance.now()>=i.dueAt&&i.refresh();let o=this.ledgers.only??this.ledgers.of(e),{request:s=[e]}=this;s[0]=e;let a=o.decide(s);return a instanceof Promise?a.then(([d])=>tn(d,this.policies,e)):tn(a[0],this.policies,e)}preview(e){return P(this.ledgers.of(e).decide([e],!0),([t])=>tn(t,this.policies,e))}hold(e,{allowed:t,policies:r},i,o){let{held:s}=this;if(!(s===void 0||!t||r.length===0))return new er(s,this.ledgers.of(e),e,i,o)}settleCharges(e,t,r){let i=this.events.raised(e,t.policies,r);return this.events.settled(this.correct(e,t,i),e,r)}correct(e,{policies:t},r){let i=this.ledgers.of(e),o=t.map((s,a)=>{let d=({at:m,source:f})=>m===s.at&&f===s.source;if(t.findIndex(d)<a)return;let l=e.map((m,f)=>d(t[f])?{...m,remaining:t[f]?.remaining}:{...m,cost:0,reserved:void 0}),{at:c,source:u}=s;return i.change({kind:"settle",charges:l,chargedAt:c,source:u},r)});return this.waking(e[0].key,ut(o))}refuseNetwork(e,t){let{networks:r,policies:i,store:o}=this;r.dueAt!==1/0&&performance.now()>=r.dueAt&&r.refresh();let s=Ba(t),a=i.map(()=>s),d=o.mode==="sync"?"store":"cache";return tn({admitted:!1,at:r.now(),source:d,outcomes:a},i,e)}async waitFor(e,t){if(this.isClosed)throw new me("SLUICE_WAIT_CLOSED",0);return this.loadingWaits??=this.loadWaits(),(await this.loadingWaits).wait(e,t)}async loadWaits(){let{WaitQueues:e}=await Promise.resolve().then(()=>(Ja(),Qa)),t=new e({ask:(r,i)=>this.decideOwn(r,this.blockedMs(r[0].key,i)),undo:(r,i)=>this.undo(r,i),ended:(r,i,o)=>this.report(r,i,o),overLimit:r=>this.overLimit(r)},this.maxWaiting);return this.held!==void 0&&(this.held.whenFreed=r=>t.wake(r)),this.waits=t,t}overLimit(e){if(e.some(({limit:t,cost:r})=>r>ft(t,Date.now())))return this.preview(e)}undo(e,t){return this.correct(Ke(e),t)}wake(e){this.waits?.wake(e)}waking(e,t){let{waits:r}=this;return r===void 0?t:P(t,i=>(r.wake(e),i))}close(){this.isClosed=!0,this.loadingWaits?.then(e=>e.close()),this.singleUse?.end(),this.releaseParts()}blockedMs(e,t){return this.networks.size===0?0:t===void 0?this.networks.blockedKeyMs(e):this.networks.blockedMs(t)}asPromised(e){return this.store.mode==="sync"?e:Promise.resolve(e)}decideOwn(e,t){return t===0?this.decide(e):this.asPromised(this.refuseNetwork(e,t))}report(e,t,r){this.isWatched&&this.events.decided(e,t,void 0,r),za(this.onDecision,e,void 0,t[0].key)}};lo();M();A();Ct();ht();var xe=class extends Error{constructor(t){let{code:r,operation:i,problem:o,advice:s,cause:a}=t,d=a===void 0?"":`: ${Vu(a)}`;super(`${i}: ${o}${d}. ${s} ${ye(r)}`,a===void 0?{}:{cause:a});this.name="StoreError";this.code=r,this.operation=i}},nd=new WeakSet;function Vu(n){return(n instanceof Error?n.message:Se(n)).replace(/\.$/,"")}ad();_e();var on=class{constructor(){this.lengths=[]}add({network:e,prefix:t},r=1/0){let i=this.lengths.find(o=>o.prefix===t);i===void 0&&(i={prefix:t,ends:new Map},this.lengths.push(i)),i.ends.set(dd(e,t),r)}endOf(e,t=128){let r=ne(e)?Ne+1:1,i=-1/0;for(let{prefix:o,ends:s}of this.lengths){if(o<r||o>t)continue;let a=s.get(dd(e,o));a!==void 0&&a>i&&(i=a)}return i}};function dd(n,e){let t=e>>4,r="";for(let i=0;i<t;i+=1)r+=String.fromCharCode(n[i]);return t===8||(e&15)===0?r:r+String.fromCharCode(n[t]&ji(e,t))}_e();de();M();var co=class extends Error{constructor(){super(...arguments);this.name="DeadlineError"}},Yu=1/5,ld=1/10,Oe=class{constructor(){this.dueAt=0;this.before=this;this.after=this}get isPending(){return this.after!==this}giveUp(e){}},Me=class{constructor(e,t=!0){this.calls=new Oe;this.counted=0;this.tickedAt=0;this.ms=e,this.keepsAlive=t}start(e){this.timer===void 0&&(this.tickedAt=performance.now()),e.dueAt=this.counted+this.sinceTick()+this.ms;let{calls:t}=this;e.before=t.before,e.after=t,t.before.after=e,t.before=e,this.timer===void 0?this.arm():this.keepsAlive&&is(this.timer)}end(e){if(e.after===e)return!1;e.before.after=e.after,e.after.before=e.before,e.before=e,e.after=e;let{timer:t}=this;return this.calls.after!==this.calls||t===void 0||(Qe(t),K&&(clearTimeout(t),this.timer=void 0)),!0}arm(){if(this.timer=void 0,!this.calls.isPending)return;let e=Math.min(this.calls.after.dueAt-this.counted,this.ms*ld);this.timer=setTimeout(()=>this.tick(),Math.max(1,Math.ceil(e))),this.keepsAlive||Qe(this.timer)}tick(){this.counted+=this.sinceTick(),this.tickedAt=performance.now();let{counted:e}=this;At(()=>this.expire(e)),this.arm()}sinceTick(){let e=performance.now()-this.tickedAt;return e>this.ms*Yu?this.ms*ld:e}expire(e){let t=[];for(let i=this.calls.after;i!==this.calls&&i.dueAt<=e;)t.push(i),this.end(i),i=this.calls.after;if(t.length===0)return;let r=new co(`no answer within ${this.ms} ms`);for(let i of t)i.giveUp(r)}};var Zu=2e3,Qu=1e4,cd=100,ud=new Me(5e3),uo=class{constructor(e,t){this.size=0;this.version="";this.ranges=new on;this.lastEnd=0;this.aheadMs=0;this.learned=0;this.awaitedUntil=0;this.changing=Promise.resolve();this.store=e,this.prefix=t,this.texts=e.networks,this.dueAt=e.mode==="async"&&this.texts!==void 0?0:1/0}blockedMs(e){if(this.size===0)return 0;let t=e===void 0?void 0:sd(e);return t===void 0?0:this.msOf(t)}blockedKeyMs(e){let t=this.size===0?void 0:De(e);return t===void 0?0:this.msOf(t.network,t.prefix)}now(){return this.store.clock?.()??Math.round(performance.now()+this.aheadMs)}refresh(){let e=performance.now();this.dueAt=e+Zu,!(e<this.awaitedUntil)&&(this.awaitedUntil=e+Qu,gn(()=>{this.ask().finally(()=>this.awaitedUntil=0)}))}async ask(){let{learned:e}=this;try{let t=await this.texts?.read(this.prefix,this.version);if(t===void 0)return;this.aheadMs=t.at-performance.now(),t.text!==void 0&&e===this.learned&&this.learn(Kn(t.text,t.at),Ue(t.text),t.at)}catch{}}block(e,t){return this.change("block",(r,i)=>Ta(r,e,i+t))}unblock(e){return this.change("reset",t=>e.filter(i=>t.delete(Un(i))).length>0)}list(){return P(this.supported().read(this.prefix,""),({text:e="",at:t})=>[...Kn(e,t)].map(([r,i])=>({network:r,endsMs:i-t})).sort((r,i)=>i.endsMs-r.endsMs))}forget(){this.dueAt!==1/0&&(this.learn(new Map,"",0),this.dueAt=0)}msOf(e,t){let r=this.now();r>=this.lastEnd&&(this.size=0);let i=this.ranges.endOf(e,t);return Hi(e)&&(i=Math.max(i,this.ranges.endOf(e))),Math.max(0,i-r)}change(e,t){let r=this.supported();if(this.store.mode==="sync")return this.attempt(r,e,t,1);let i=this.changing.then(()=>em(this.attempt(r,e,t,1)));return this.changing=i.catch(()=>{}),i.catch(o=>{throw o instanceof y||o instanceof xe?o:new xe({code:"SLUICE_STORE_UNAVAILABLE",operation:e,problem:"the store did not confirm it",advice:"It may hold nevertheless: repeat it when the store is back.",cause:o})})}attempt(e,t,r,i){return P(e.read(this.prefix,""),({text:o="",at:s})=>{let a=Kn(o,s);if(!r(a,s))return this.learn(a,Ue(o),s);let d=Ea(a),l=Math.max(0,...a.values())-s;return P(e.replace(this.prefix,Ue(o),d,l),c=>{if(c)return this.learn(a,Ue(d),s);if(i<cd)return this.attempt(e,t,r,i+1);throw new xe({code:"SLUICE_STORE_CONTENTION",operation:t,problem:`others changed the networks during each of ${cd} attempts`,advice:"Nothing was written. Try again."})})})}learn(e,t,r){this.ranges=new on,this.lastEnd=0;for(let[i,o]of e){let s=De(i);s!==void 0&&(this.ranges.add(s,o),this.lastEnd=Math.max(this.lastEnd,o))}this.version=t,this.size=e.size,this.aheadMs=r-performance.now(),this.learned+=1}supported(){if(this.texts!==void 0)return this.texts;throw new y({code:"SLUICE_OPTION_CONFLICT",option:"store",expected:"a store that keeps networks",said:"a store without networks",fix:"Use the option deny, or add networks to the store."})}},md=new WeakMap,Ju=new Set;function fd(n,e){let t=md.get(n)??new Map;md.set(n,t);let r=t.get(e);return r===void 0&&(r=new uo(n,e),t.set(e,r),n.mode==="async"&&Ju.add(new WeakRef(r))),r}var mo=class extends Oe{constructor(e){super(),this.reject=e}giveUp(e){this.reject(e)}};function em(n){return new Promise((e,t)=>{let r=new mo(t);ud.start(r),Promise.resolve(n).then(e,t).finally(()=>ud.end(r))})}M();A();an();Qn();A();ht();X();var rm=5,im=250,om=2e3,sm=1e4,or=class{constructor(){this.isOpen=!1;this.failures=0;this.failedAt=Number.NEGATIVE_INFINITY;this.probes=0;this.probeAt=0;this.closedAt=Number.NEGATIVE_INFINITY}succeeded(){this.failures=0}failed(e,t,r){return this.isOpen||(e-this.failedAt>=1&&(this.failures+=1,this.failedAt=e),this.failures<rm&&!r)?!1:(this.isOpen=!0,t-this.closedAt>sm&&(this.probes=0),this.schedule(t),!0)}isProbeDue(e){return this.isOpen&&e>=this.probeAt}hasten(e){this.probeAt=e}schedule(e){let t=Math.min(im*2**this.probes,om);this.probes+=1,this.probeAt=e+t*(.5+Math.random())}close(e){this.isOpen=!1,this.failures=0,this.closedAt=e}},hd=0,sr=class{constructor(){this.downs=0;this.isExplained=!1;hd+=1,this.number=hd}down(e){this.downs+=1,e instanceof y?this.setUpFails(e):this.downs===1&&this.reportDown(e)}setUpFails(e){this.isExplained||(this.isExplained=!0,this.reportDown(e))}up(){this.downs-=1,!(this.downs>0)&&(this.isExplained=!1,Tn("SLUICE_STORE_UP","The store has recovered, and decides again."),this.publish("up"))}close(){this.downs>0&&this.publish("closed")}reportDown(e){let t=e instanceof Error?e.message:String(e);Tn("SLUICE_STORE_DOWN",`The store failed, and is not used until it recovers: ${t}`),this.publish("down",t,tr(e))}publish(e,t,r){Qi.hasSubscribers&&Qi.publish({store:this.number,state:e,reason:t,errorType:r})}};var ar=class{constructor(e,t){this.open=new Map;this.sendAll=()=>{let{open:e}=this;this.open=new Map;for(let t of e.values())this.send(t)};this.remote=e,this.hasBan=t}ask(e,t,r,i){let{key:o}=e[0][0],s=this.remote.shard===void 0?"":sn(o),a=this.open.get(s);a!==void 0&&!this.hasRoomFor(a,e)&&(a.send(),a=void 0),a??=this.begin(s,t);let{requests:d,waiting:l}=a,c=d.length;for(let m of e)d.push(m);return new Promise((m,f)=>{l.push({from:c,to:d.length,use:r,late:i,resolve:m,reject:f})})}begin(e,t){this.open.size===0&&gn(this.sendAll);let i={calls:t,send:()=>{this.open.delete(e),this.send(i)},requests:[],work:void 0,waiting:[]};return this.open.set(e,i),t.open.add(i),i}hasRoomFor(e,t){return e.work=(e.work??this.workOf(e.requests))+this.workOf(t),!nn(e.work)}workOf(e){let t=this.hasBan?e.length:0;for(let r of e)t+=Zn(r);return t}send(e){let{calls:t,requests:r,waiting:i}=e;t.open.delete(e);let o=()=>this.remote.decide(r),s=d=>{for(let{from:l,to:c,use:u,resolve:m,reject:f}of i)try{m(u(d&&pd(d,l,c)))}catch(p){f(p)}},a=d=>{for(let{from:l,to:c,late:u}of i)u?.(pd(d,l,c))};t.isTrusted?t.send(o,s,()=>s(void 0),a):s(void 0)}};function pd(n,e,t){for(let i=e;i<t;i+=1)if(n[i]instanceof Error)return;return t-e===n.length?n:n.slice(e,t)}var ho=1e3,am=1e4,dm=1e3,lm=8,cm=3e4,po=class{constructor(e,t,r){this.isTrusted=!0;this.failure=void 0;this.open=new Set;this.breaker=new or;this.active=0;this.waiting=[];this.next=0;this.unanswered={late:0,probes:0};this.probedAt=0;this.deadlineMs=e,this.shared=t,this.health=r}sendBefore(e){if(this.open.size===0)return;let[t]=e,r=e.length===1?void 0:new Set(e);for(let i of this.open){let o=({key:s})=>s===t||r?.has(s)===!0;i.requests.some(s=>s.some(o))&&i.send()}}send(e,t,r,i){let o=new yo(this,this.unanswered,e,t,r,i);o.deadline=this.shared??new Me(this.deadlineMs),o.deadline.start(o),this.active<ho||K?this.begin(o):this.waiting.length-this.next<am?this.waiting.push(o):this.refuse(o,new Error("too many calls wait for the store"))}call(e){return new Promise((t,r)=>this.send(e,t,r))}probe(e){let{breaker:t}=this,r=performance.now();if(!t.isProbeDue(r))return;if(this.unanswered.probes>=lm){if(r-this.probedAt<cm)return;this.unanswered={late:0,probes:0}}let{unanswered:i}=this;return this.probedAt=r,t.schedule(r),i.probes+=1,new Promise(o=>{let s=new Oe;s.giveUp=()=>o();let a=this.shared??new Me(this.deadlineMs);a.start(s),e().then(()=>{i.probes-=1,a.end(s)?this.recover():t.hasten(performance.now())},d=>{i.probes-=1,a.end(s),d instanceof y&&this.failed(d,r)}).then(o)})}giveUp(e,t){e.askedAt!==void 0&&(e.unanswered.late+=1,this.active-=1,this.waiting.length>0&&this.beginWaiting(),this.failed(t,e.askedAt)),e.failed(t)}async begin(e){this.active+=1;let t=performance.now();e.askedAt=t;let r,i=!1;try{r=await e.ask(),i=!0}catch(s){r=s}let o=e.deadline.end(e);o?this.active-=1:e.unanswered.late-=1,this.waiting.length>0&&this.beginWaiting(),i?(o&&this.isTrusted&&this.breaker.failures>0&&this.breaker.succeeded(),o?e.answered(r):e.late?.(r)):((o||r instanceof y)&&this.failed(r,t),o&&e.failed(r))}refuse(e,t){e.deadline.end(e),e.failed(t)}beginWaiting(){for(;this.next<this.waiting.length&&this.active<ho;){let e=this.waiting[this.next];this.next+=1,(this.next===this.waiting.length||this.next===ho)&&(this.waiting=this.waiting.slice(this.next),this.next=0),e.isPending&&this.begin(e)}}failed(e,t){let r=e instanceof y||this.unanswered.late>=dm;if(this.breaker.failed(t,performance.now(),r)){this.isTrusted=!1,this.failure=e,this.health.down(e);let i=this.waiting.slice(this.next);this.waiting=[],this.next=0;for(let o of i)o.isPending&&this.refuse(o,e)}else this.breaker.isOpen&&e instanceof y&&(this.failure=e,this.health.setUpFails(e))}recover(){this.breaker.isOpen&&(this.breaker.close(performance.now()),this.isTrusted=!0,this.failure=void 0,this.unanswered={late:0,probes:0},this.health.up())}},dr=class{constructor(e){this.health=new sr;this.shards=[];this.deadlineMs=e,this.shared=K?void 0:new Me(e)}to({shard:e},t){let r=e===void 0?0:e(t),i=this.shards[r];if(i!==void 0)return i;let o=new po(this.deadlineMs,this.shared,this.health);return this.shards[r]=o,o}close(){this.health.close()}},yo=class extends Oe{constructor(t,r,i,o,s,a){super();this.askedAt=void 0;this.calls=t,this.unanswered=r,this.ask=i,this.answered=o,this.failed=s,this.late=a}giveUp(t){this.calls.giveUp(this,t)}};j();A();j();function lr(n){let e=N("options",n??{},"the options of inspect");U("",e,["prefix","policy","key","onePerKeyspace","onProgress"]);let{prefix:t}=V(b.store,"",{prefix:e.prefix}),{policy:r,key:i,onePerKeyspace:o=!1,onProgress:s}=e;return wn("onePerKeyspace",o),yd("policy",r),yd("key",i),s!==void 0&&Te("onProgress",s,"(progress) => void"),{prefix:t,policy:r,key:i,onePerKeyspace:o,onProgress:s}}function yd(n,e){if(!(e===void 0||typeof e=="string"&&e!==""))throw new y({code:"SLUICE_OPTION_TYPE",option:n,expected:"text of at least one character",received:e,fix:`Leave ${n} out to list all.`})}$();dn();fe();yt();B();var ur=class{constructor(e){this.terms=new Map;this.dueAt=1/0;this.count=e}get(e){return this.terms.get(z(e))}set(e,t,r){let i=z(e),o=this.terms.has(i);return t===void 0?(this.terms.delete(i)&&(this.count.value-=1),!0):(!o&&this.count.value>=this.count.most&&this.dropEnded(r),!o&&this.count.value>=this.count.most?!1:(this.dueAt=Math.min(this.dueAt,Xt(t)),this.terms.set(o?i:pt(i),t),o||(this.count.value+=1),!0))}clear(){this.count.value-=this.terms.size,this.terms.clear()}dropEnded(e){if(!(e<this.dueAt)){this.dueAt=1/0;for(let[t,r]of this.terms)Vn(r,e)===void 0?(this.terms.delete(t),this.count.value-=1):this.dueAt=Math.min(this.dueAt,Xt(r))}}};hr();var pr=class{constructor(e,t,r){this.unused=new T;this.store=e,this.tables=t,this.states=t.map(()=>new T),this.rows=t.map(()=>-1),this.scaledFor=t.map(()=>{}),this.scales=t.map(()=>0),this.ban=r&&{limit:r,state:this.states.at(-1)};let i=r===void 0?this.states:this.states.slice(0,-1);this.result={admitted:!1,at:0,source:"store",outcomes:i,ban:this.ban?.state},this.results=[this.result]}decide(e,t=!1){if(e.length>1||this.tables.length>1||t)return this.decideOthers(e,t);let r=e[0],i=this.store.clock(),o=r[0],{result:s}=this,a=this.tables[0],d=this.states[0],l=a.find(o.key);l<0&&(this.makeRoom(r,i),l=this.rows[0]),l<0?ko(d):a.load(l,d),d.terms=a.own===void 0?void 0:a.own.get(o.key),d.own=void 0,Ge(d,o,i,o.cost);let{admitted:c}=d;return s.admitted=c,s.at=i,no(d,o,i,c?o.cost:0)?this.write(0,l,o,i):!c&&l>=0&&a.setUsage(l,re),this.results}change(e,t){let{store:r,tables:i,rows:o}=this,s=r.clock(),a=t&&[],l=wd(e,{load:(c,u)=>{let m=i[c].find(u),f=m<0&&Sm(e)&&r.size>=r.maxKeys;return o[c]=f&&!r.makeRoom(s)?Fe:m,this.load(c,u)},keep:(c,u,m,f,p)=>{let g=i[c];(m.terms!==void 0||g.own!==void 0)&&this.keepTerms(g,u,m.terms,s),m.blockedUntil>0?this.block(c,u,m.blockedUntil,s):(p===void 0?go(m):f===0)?g.delete(u):p!==void 0&&this.write(c,o[c],{key:u,limit:p},s)}},i.length,s,a);if(t!==void 0)for(let c of a)t(c);return l}decideOthers(e,t){if(e.length>1)return e.map(i=>xm(this.decide([i],t)[0]));let r=e[0];return t?this.peek(r):this.charge(r),this.results}peek(e){this.find(e),this.decideAll(e,this.store.clock(),!0)}charge(e){let t=this.store.clock();this.find(e)>0&&this.makeRoom(e,t);let r=this.decideAll(e,t,!1);for(let i=0;i<e.length;i+=1){let o=e[i],s=this.states[i];no(s,o,t,r.admitted?o.cost:0)?this.write(i,this.rows[i],o,t):!s.admitted&&this.rows[i]>=0&&this.tables[i]?.setUsage(this.rows[i],re)}(this.ban?.state.counted||this.ban?.state.rebased)&&this.writeBan(e,t)}keepTerms(e,t,r,i){if(e.own??=new ur(this.store.ownCount),!e.own.set(t,r,i))throw C("maxKeys","room for one more client with a limit of its own",this.store.maxKeys,"Raise maxKeys of the memory store, or end overrides that nobody needs.")}block(e,t,r,i){let o=this.tables[e];this.rows[e]===Fe&&this.store.displace(o);let s=o.find(t);o.block(s<0?o.add(t):s,r),this.store.sweeper.expect(o.dueAt,i)}find(e){let t=0;for(let r=0;r<this.tables.length;r+=1){let i=this.tables[r].find((e[r]??e[0]).key);this.rows[r]=i,i<0&&r<e.length&&(t+=1)}return t}makeRoom(e,t){let{store:r,rows:i}=this,o=r.maxKeys-r.size;for(;this.find(e)>o&&r.makeRoom(t);)o=r.maxKeys-r.size;for(let s=0;s<e.length;s+=1)i[s]===-1&&--o<0&&(i[s]=Fe)}decideAll(e,t,r){for(let i=0;i<this.tables.length;i+=1)this.load(i,(e[i]??e[0]).key);return this.result.admitted=qn(this.states,e,t,this.ban,r),this.result.at=t,this.result}load(e,t){let r=this.rows[e],i=this.states[e];r<0?ko(i):this.tables[e]?.load(r,i);let{own:o}=this.tables[e];return i.terms=o===void 0?void 0:o.get(t),i.own=void 0,i}writeBan([e],t){let{store:r}=this,i=this.tables.length-1,o=this.rows[i];o<0&&r.size>=r.maxKeys&&!r.makeRoom(t)||this.write(i,o,{...e,limit:this.ban?.limit},t)}write(e,t,{key:r,limit:i},o){let{store:s}=this,a=this.tables[e],d=this.states[e],l=t<0?a.add(r):t,c=d.own??i,u=c.keepMs===void 0?d.resetMs:c.keepMs(d,o),m=d.remaining<1||i.algorithm.holdsSlots===!0;!m&&this.scaledFor[e]!==c&&this.scale(e,c,o);let f=254-(d.remaining*this.scales[e]|0);d.terms===void 0&&a.own?.set(r,void 0,o),a.save(l,d,o,u,m?re:f);let{dueAt:p}=a;p<s.sweeper.nextAt&&s.sweeper.expect(p,o)}scale(e,t,r){let{unused:i}=this;ko(i),t.decide(i,r,0),this.scaledFor[e]=t,this.scales[e]=254/i.remaining}};function Sm(n){return n.kind==="settle"?n.charges.some(({cost:e,reserved:t})=>e>0||t!==void 0):n.kind==="renew"||n.kind==="block"}function xm({outcomes:n,ban:e,...t}){let r=i=>({...i});return{...t,outcomes:n.map(r),ban:e&&r(e)}}function ko(n){n.a=n.b=n.c=0,n.log=n.held=void 0,n.blockedUntil=0}M();var Om=1,Mm=5,Am=1e3,Cm=2**31-1,Em=new FinalizationRegistry(n=>n.cancel()),yr=class{constructor(e,t){this.nextAt=1/0;this.self=new WeakRef(this);this.alarm={cancel(){}};this.setAt=0;this.closed=!1;this.tables=e,this.clock=t,Em.register(this,this.alarm)}expect(e,t){let r=Math.max(e,t+Am);r<this.nextAt&&!this.closed&&this.set(t,r-t)}close(){this.closed=!0,this.alarm.cancel(),this.nextAt=1/0}sweep(){let e=this.clock();this.nextAt=1/0,this.freeSlice(e)?this.set(e,Mm):e!==this.setAt&&this.expect(this.dueAt(),e)}freeSlice(e){let t=performance.now()+Om;for(let r of this.tables)for(;r.dueAt<=e;)if(r.sweep(e),performance.now()>=t)return this.dueAt()<=e;return!1}dueAt(){return this.tables.reduce((e,{dueAt:t})=>Math.min(e,t),1/0)}set(e,t){let r=Math.min(t,Cm);this.alarm.cancel(),this.alarm.cancel=Tm(this.self,r),this.setAt=e,this.nextAt=e+r}};function Tm(n,e){return ns(()=>n.deref()?.sweep(),e)}hr();var Rm=4,Lm=4,gr=class{constructor(e,t){this.all=[];this.hand=0;this.maxKeys=e,this.clock=t,this.ownCount={value:0,most:e},this.sweeper=new yr(this.all,t)}get size(){let e=0;for(let t=0;t<this.all.length;t+=1)e+=this.all[t].size;return e}of(e,t){let r=this.all.find(o=>o.prefix===e&&o.name===t);if(r!==void 0)return r;let i=new fr(this.maxKeys,e,t);return this.all.push(i),i}makeRoom(e){return this.freeExpired(e)||this.evict()}displace(e){let t=e.size>0?e:this.all.find(({size:r})=>r>0);t?.free(t.soonest())}freeExpired(e){let t=0;for(let r of this.all)for(;r.dueAt<=e&&t<Rm;t+=1)if(r.sweep(e)>0)return!0;return!1}evict(){let e,t=-1;for(let r=0,i=0;r<this.all.length&&i<Lm;r+=1){this.hand=(this.hand+1)%this.all.length;let o=this.all[this.hand],s=o.best();s<0||(i+=1,!(e!==void 0&&e.usage(t)<=o.usage(s))&&(e=o,t=s))}return e?.free(t),e!==void 0}};M();var Pm=16;function xd(){let n=-1,e=-1,t=0,r,i=!1,o=()=>{n=-1};return()=>{if(n>=0&&r===Date.now)return n;let s=Date.now();return t=s===e?t+1:1,e=s,t<Pm||(t=0,r!==Date.now&&(r=Date.now,i=Im(Date.now)),n=i&&ts(o)?s:-1),s}}function Im(n){return Function.prototype.toString.call(n).includes("[native code]")}function vr(n={}){return new xo(n)}var xo=class{constructor(e){this.mode="sync";let t=N("options",e,"the options of a store");U("",t,G.memoryStore);let{maxKeys:r,clock:i=xd()}=V(b.memoryStore,"",t);this.maxKeys=r,this.clock=i,this.tables=new gr(r,i),this.networks=Gm(i)}get size(){return this.tables.size}open({policies:e,ban:t},r){let i=e.concat(t??[]);if(i.length>this.maxKeys)throw C("maxKeys",`at least ${i.length}, since a client's key counts once for each policy`,this.maxKeys,"Raise maxKeys of the memory store.");let o=i.map(s=>{let a=this.tables.of(s.prefix??r,s.name);return a.params=s.params,a});return new pr(this.tables,o,t?.limit)}inspect(e){return this.entries(lr(e))}async*entries(e){let{inspectTables:t}=await Promise.resolve().then(()=>(Ed(),Cd));yield*t([...this.tables.all],this.clock,e)}close(){this.tables.sweeper.close();for(let e of this.tables.all)e.clear()}};function Gm(n){let e=new Map;return{read:t=>({text:e.get(t),at:n()}),replace(t,r,i){return Ue(e.get(t)??"")!==r?!1:(e.set(t,i),!0)}}}M();dn();le();var Sr=class{constructor(e,t,r,i,o){this.isSharded=e.shard!==void 0,this.remote=e,this.local=t,this.calls=r,this.failureMode=i,this.batches=new ar(e,o)}decide(e,t){let r=this.calls.to(this.remote,e[0].key);if(!r.isTrusted){let i=this.standIn(e),o=this.probeWith(r,e,i.admitted);return o===void 0?Promise.resolve([t(i)]):o.then(()=>[t(i)])}return this.batches.ask([e],r,i=>{if(i===void 0)return[t(this.standIn(e))];let[o]=i;return o.admitted&&this.countHere(e),[t(o)]})}async attempt(e){let t=this.calls.to(this.remote,e[0].key);if(!t.isTrusted){let u=this.attemptHere(e);return{...u,conclude:f=>{u.conclude(f),this.probeWith(t,e,f)}}}let r=!1,i,o=()=>{r&&i!==void 0&&this.giveBack(t,e,i)},s=u=>{u?.[1]?.admitted&&(i=u[1]),o()},a=[e.map(Bm),e],d=await this.batches.ask(a,t,u=>u,s);if(d!==void 0)return this.attemptOf(t,e,d);let l=this.attemptHere(e);return{...l,conclude:u=>{l.conclude(u),r=!u,o()}}}async peek(e){let[[{key:t}]]=e,r=this.calls.to(this.remote,t),i=()=>e.map(s=>this.standIn(s,!0));if(!r.isTrusted)return i();r.open.size>0&&r.sendBefore(e.flat().map(s=>s.key));let o=async()=>(await this.remote.decide(e,!0)).map(Vm);return r.call(o).catch(i)}async change(e,t){let r=e.kind!=="settle"||(e.source??"store")==="store";if(this.changeHere(e,r?void 0:t),!r)return;let i=cr(e),o=this.calls.to(this.remote,i[0]);if(!o.isTrusted&&e.kind==="settle")throw this.probeWith(o,e.charges,!1),Td("settle",o.failure);if(!o.isTrusted&&e.kind==="renew"){this.probeAndRenew(o,e);return}o.sendBefore(i);let s=async()=>this.remote.change(e,t);return new Promise((a,d)=>{let l,c=u=>{l=Td(e.kind,u),d(l)};o.send(s,a,c,()=>nd.add(l))})}isTrusted(e){return this.calls.to(this.remote,e).isTrusted}probeWith(e,t,r){let i=t.map(s=>r&&s.slot===void 0?s:Oo(s)),o=e.probe(()=>this.askWhetherItWorks(i));return K?o:void 0}async askWhetherItWorks(e){await this.remote.change({kind:"settle",charges:e,isProbe:!0})}attemptOf(e,t,r){let[{outcomes:i},o]=r;return{result:o,uncharged:i,conclude:a=>{a?this.countHere(t):o.admitted&&this.giveBack(e,t,o)}}}attemptHere(e){let{outcomes:t}=this.standIn(e.map(Oo),!0),r=this.standIn(e);return{result:r,uncharged:t,conclude:o=>{r.source!=="local"||!r.admitted||o||this.countHere(Ke(e,r.outcomes),r.at)}}}giveBack(e,t,r){if(!t.some(({cost:a,slot:d})=>a>0||d!==void 0))return;let{at:i,outcomes:o}=r,s={kind:"settle",charges:Ke(t,o),chargedAt:i};e.call(()=>this.remote.change(s)).catch(()=>{})}standIn(e,t=!1){let{local:r}=this;if(r===void 0){let{onStoreError:c}=this.failureMode;return{admitted:c==="allow",at:Date.now(),source:c,outcomes:[]}}let[i]=r.decide([this.localCharges(e)],t),{admitted:o,at:s,outcomes:a,ban:d}=i,l=a.map(c=>({...c}));return{admitted:o,at:s,source:"local",outcomes:l,ban:d&&{...d}}}localCharges(e){return this.failureMode.localShare===1?e:e.map((t,r)=>({...t,limit:this.failureMode.localLimit(r,t.limit)}))}countHere(e,t){this.local?.change({kind:"settle",charges:this.localCharges(e),chargedAt:t})}changeHere(e,t){let{local:r}=this;if(!(r===void 0||"limit"in e))if(e.kind==="settle"){let{charges:i,source:o="store"}=e;if(i.some(({isRepeated:a})=>a))return;let s=o==="store"?i.map(Fm):i;r.change({...e,charges:this.localCharges(s)},t)}else if(e.kind==="renew"){let i=e.requests.map(o=>this.localCharges(o));r.change({...e,requests:i})}else r.change(e)}probeAndRenew(e,t){let r=performance.now(),[i]=t.requests;e.probe(async()=>{await this.askWhetherItWorks(i.map(Oo)),performance.now()-r<=this.failureMode.deadlineMs&&await this.remote.change(t)})}};function Oo({key:n,limit:e}){return{key:n,limit:e,cost:0}}function Bm({key:n,limit:e}){return{key:n,limit:e,cost:0,isUncounted:!0}}function Fm(n){return n.reserved===void 0?n:{...n,reserved:void 0}}var Hm={override:"Repeat it when the store is back.",grant:"The units may have been added or not: repeat it with the same id when the store is back, which adds them once."};function Td(n,e){return new xe({code:"SLUICE_STORE_UNAVAILABLE",operation:n,problem:"the store did not confirm it",advice:Hm[n]??"It holds in this process alone: repeat it when the store is back.",cause:e})}function Vm(n){if(n instanceof Error)throw n;return n}yt();fe();var qm=2e3,zm=1e4,xr=class{constructor(e,{policies:t,ban:r},i,o){this.shared=e,this.spaces=t.concat(r??[]).map(s=>e.space(s,i)),this.ban=r?.limit,this.wanted=o}find(e,t){if(this.shared.refusals.size===0)return;let r=this.shared.clock(),i=Qt(e,this.ban),o=this.ban&&this.known(i,e.length,r,t);if(this.ban!==void 0&&!o&&t.isTrusted(e))return;let s=[];for(let a=0;a<e.length;a+=1){let{key:d,cost:l,slot:c}=e[a];if(l>1||c!==void 0||!this.isOn(this.spaces[a]))return;let u=this.known(i,a,r,t),m=o!==void 0&&d===e[0]?.key;if(u===void 0?!m||t.isTrusted(e):!u.isOfLimit&&!m)return;s.push(u)}return Xm(s,o,r)}known(e,t,r,i){let{key:o,limit:s}=e[t],a=this.shared.get(this.spaces[t],o);if(a===void 0||!Ym(s,a.limit))return;let d=r-a.askedAt;if(!(d>a.validMs-1))return d>=qm&&i.isTrusted(e)?void 0:a}learner(e){let t=this.shared.clock(),{ends:r}=this.shared,i=this.ban===void 0?e:Qt(e,this.ban);return o=>{let{outcomes:s,ban:a,origins:d}=o;d!==void 0&&this.settles();for(let l=0;l<s.length+(a===void 0?0:1);l+=1){let{key:c,limit:u,cost:m,slot:f}=i[l],{at:p,source:g}=d?.[l<e.length?l:0]??o,w=this.spaces[l],v=s[l]??a;if(g!=="store"||f!==void 0)continue;let S=w.endedBy<=r,k=!v.admitted&&v.remaining===0;if((k?m<=1:a?.admitted===!1)&&S&&this.isOn(w)){let{retryAfterMs:H,resetMs:Q,own:J}=v,je=jm(v,k),rc=this.shared.clock(),ic={askedAt:t,receivedAt:rc,at:p,retryAfterMs:H,resetMs:Q,validMs:je};this.shared.set(w,c,{isOfLimit:k,limit:u,own:J,...ic})}else if(this.shared.refusals.size>0){let{isOfLimit:H}=this.shared.get(w,c)??{};H!==k&&this.shared.delete(w,c)}}return o}}async ending(e,t){this.end(e);try{return await t()}finally{this.end(e)}}settles(){for(let e of this.spaces)e.settles=!0}end(e){this.shared.ends+=1;for(let t of this.spaces){t.endedBy=this.shared.ends;for(let r of e)this.shared.delete(t,r)}}isOn({settles:e}){return this.wanted??!e}};function jm({retryAfterMs:n,resetMs:e,own:t,ownMs:r},i){let o=t===void 0?1/0:r;return i?Math.min(o,n,e===0?1/0:e):o}var Rd={admitted:!0,remaining:0,resetMs:0,retryAfterMs:0,effectiveMs:0,delayMs:0};function Xm(n,e,t){let r=0,i=a=>{if(a===void 0)return Rd;let{receivedAt:d,at:l,retryAfterMs:c,resetMs:u,own:m}=a;if(!a.isOfLimit)return{...Rd,own:m};let f=Math.floor(t-d);return r=Math.max(r,l+f),{admitted:!1,remaining:0,resetMs:Math.max(0,u-f),retryAfterMs:c-f,effectiveMs:c-f,delayMs:0,own:m}},o=n.map(i),s=e&&i(e);return{admitted:!1,at:r,source:"cache",outcomes:o,ban:s}}function Ym(n,e){if(n===e)return!0;let t=Date.now(),r=e.constants(t),i=n.constants(t);return i.length===r.length&&i.every((o,s)=>o===r[s])}var Or=class{constructor(e){this.ends=0;this.keyspaces=new Map;this.refusals=new Map;this.clock=e??(()=>performance.now())}space(e,t){let r=`${e.prefix??t}
${e.name}`,i=this.keyspaces.get(r);return i===void 0&&(i={number:this.keyspaces.size,settles:!1,endedBy:0},this.keyspaces.set(r,i)),i}get(e,t){return this.refusals.get(Mo(e,t))}set(e,t,r){let i=Mo(e,t);if(this.refusals.delete(i),this.refusals.size===zm){let[o]=this.refusals.keys();this.refusals.delete(o)}this.refusals.set(pt(i),r)}delete(e,t){this.refusals.delete(Mo(e,t))}clear(){this.ends+=1;for(let e of this.keyspaces.values())e.endedBy=this.ends;this.refusals.clear()}};function Mo({number:n},e){return`${n} ${z(e)}`}$();an();dn();le();var Mr=class{constructor(e,t,r){this.some=new Map;this.all=e,this.openSome=t,this.refusals=r}decide(e,t=!1){let r=t?this.peek:this.decideOne;return e.length===1?r.call(this,e[0]):Promise.all(e.map(i=>r.call(this,i))).then(i=>i.flat())}change(e,t){return e.kind==="renew"?this.changeParts(e,t):(e.kind==="settle"&&this.refusals.settles(),this.refusals.ending(cr(e),()=>this.changeParts(e,t)))}async changeParts(e,t){if("key"in e||!this.all.isSharded)return this.all.change(e,t);let i=(e.kind==="settle"?this.settlements(e):this.renewals(e)).map(({ledger:o,change:s,policies:a})=>{let d=t&&(l=>t({...l,place:a?.[l.place]}));return o.change(s,d)});await Promise.all(i)}settlements(e){return this.byKey(e.charges).flatMap(({policies:t,ledger:r,own:i})=>i.some(Zm)?{ledger:r,policies:t,change:{...e,charges:i}}:[])}renewals({requests:e}){let t=new Map;for(let r of e)for(let{policies:i,ledger:o,own:s}of this.byKey(r)){if(!s.some(Ra))continue;let a=`${i} ${sn(s[0].key)}`,d=t.get(a)??{ledger:o,requests:[]};t.set(a,d),d.requests.push(s)}return Array.from(t.values(),({ledger:r,requests:i})=>({ledger:r,change:{kind:"renew",requests:i}}))}isTrusted(e){return e.every(({key:t})=>this.all.isTrusted(t))}decideOne(e){let{all:t,refusals:r}=this,i=r.find(e,this);if(i!==void 0)return Promise.resolve([i]);let o=r.learner(e);return t.isSharded?this.decideByKey(e,o):t.decide(e,o)}async peek(e){if(!this.all.isSharded)return this.all.peek([e]);let t=this.byKey(e),r=t.map(async({ledger:i,own:o})=>{let s=o.map(l=>({...l,cost:0})),[a,{outcomes:d}]=await i.peek([o,s]);return{result:a,uncharged:d}});return[Ld(e,t,await Promise.all(r))]}async decideByKey(e,t){let r=this.byKey(e);if(r.length===1)return this.all.decide(e,t);let i=await Promise.all(r.map(({ledger:s,own:a})=>s.attempt(a))),o=Ld(e,r,i);for(let s of i)s.conclude(o.admitted);return[t(o)]}byKey(e){let t=new Map;for(let[r,{key:i}]of e.entries()){let o=sn(i),s=t.get(o)??[];t.set(o,s),s.push(r)}return[...t.values()].map(r=>{let i=r.map(o=>e[o]);return{policies:r,own:i,ledger:this.ledgerOf(r,e.length)}})}ledgerOf(e,t){if(e.length===t)return this.all;let r=this.some.get(`${e}`)??this.openSome(e);return this.some.set(`${e}`,r),r}};function Zm({cost:n,reserved:e}){return n!==0||e!==void 0}function Ld(n,e,t){let r=t.map(({result:u})=>u),i=r.every(u=>u.admitted),o=Math.max(...r.map(u=>u.at)),s=r.filter(u=>u.admitted===i),a=i?"store":"deny",d=s.find(u=>u.source!==a)?.source??a;if(s.every(({outcomes:u})=>u.length===0))return{admitted:i,at:o,source:d,outcomes:[]};let l=[],c=[];return t.forEach(({result:u,uncharged:m},f)=>{let p=u.admitted&&!i?m:u.outcomes;e[f]?.policies.forEach((g,w)=>{l[g]=p[w]??Qm(u,n[g]),c[g]={at:u.at,source:u.source}})}),{admitted:i,at:o,source:d,outcomes:l,ban:r[0]?.ban,origins:c}}function Qm({admitted:n,at:e},{limit:t}){if(!n)return{admitted:n,remaining:0,resetMs:0,retryAfterMs:0,effectiveMs:0,delayMs:0};let r=new T;t.decide(r,e,0);let{remaining:i,resetMs:o,effectiveMs:s,delayMs:a}=r;return{admitted:n,remaining:i,resetMs:o,retryAfterMs:0,effectiveMs:s,delayMs:a}}var Jm=1e5,Ao=class{constructor(e){this.calls=new Map;this.users=0;this.store=e,this.refusals=new Or(e.clock)}open(e,t,r){let{policies:i,ban:o}=e,s=d=>{let l=d.map(m=>i[m]),c=d.includes(0)?o:void 0,u=(m,f)=>r.localLimit(d[m],f);return this.guard({policies:l,ban:c},t,{...r,localLimit:u})},a=new xr(this.refusals,e,t,r.refusalCache);return r.settles&&a.settles(),new Mr(this.guard(e,t,r),s,a)}join(){this.users+=1}leave(){if(this.users-=1,!(this.users>0)){this.forget(),this.local=void 0;for(let e of this.calls.values())e.close()}}forget(){this.local?.close(),this.refusals.clear()}guard(e,t,r){let{deadlineMs:i,localShare:o,onStoreError:s}=r,a=this.store.open(e,t,i),d=this.calls.get(i)??new dr(i);this.calls.set(i,d);let l=s==="local"?this.openLocal(e,t,o):void 0;return new Sr(a,l,d,r,e.ban!==void 0)}openLocal(e,t,r){return this.local??=vr({maxKeys:Jm,clock:this.store.clock}),this.local.open(e,`${r}/${t}`)}},Pd=new WeakMap,ef=new Set;function tf(n){let e=Pd.get(n);return e===void 0&&(e=new Ao(n),Pd.set(n,e),ef.add(new WeakRef(e))),e}function Id(n,e){let t=tf(n),r=!0;return t.join(),{open:(i,o)=>t.open(i,o,e),close(){r&&t.leave(),r=!1}}}cn();$e();cn();wt();cn();async function zd(n){return He(n)?[Ef(n)]:"customCommand"in n?Cf(n):"evalsha"in n?Mf(n):Af(n)}function Mf(n){return(bt(n)?n.nodes("master"):[n]).map(t=>{let r=t;return(i,o,s)=>r.scan(i,"MATCH",o,"COUNT",s)})}async function Af(n){let e=n;return(bt(n)?await Promise.all(e.masters.map(r=>e.nodeClient(r))):[n]).map(r=>async(i,o,s)=>{let a=await r.scan(i,{MATCH:o,COUNT:s});return[String(a.cursor),a.keys.map(String)]})}async function Cf(n){let e=n,t={decoder:1},r=s=>async(a,d,l)=>{let c=["SCAN",a,"MATCH",d,"COUNT",`${l}`];return await e.customCommand(c,s)};if(!bt(n))return[r(t)];let i=await e.customCommand(["CLUSTER","SLOTS"],t);return[...new Map(i.map(([,,s])=>[s.slice(0,2).join(":"),s])).values()].map(([s,a])=>r({...t,route:{type:"routeByAddress",host:s,port:a}}))}function Ef(n){let e=n;return async(t,r,i)=>{let[o,s]=await e.scan(t,{match:r,count:i});return[String(o),s.map(String)]}}M();fe();wt();Dr();Er();Ko();Wo();var[th,nh]=[new L(rl),new L(il)],Vr=class{constructor(e,{policies:t,ban:r},i,o){this.nameOf=({policy:e,key:t})=>`${this.prefixes[e]}${Ae(t)}${this.suffixes[e]}`;this.connection=e,this.shard=e.isCluster?Gd:void 0;let s=t.concat(r??[]);this.prefixes=s.map(d=>`${d.prefix??i}:{`),this.suffixes=s.map(({name:d})=>`}:${d}`),this.ban=r?.limit;let a=s.some(({algorithm:d})=>d.lua.entries?.renew);this.probeScript=a?nh:th,this.scripts=new xt(s,r!==void 0),this.terms=o.of(s,i)}decide(e,t=!1){let{connection:r,ban:i,scripts:o}=this,s=i?e.map(l=>Qt(l,i)):e,a=r.time(),d=t?o.peek(s,a):o.decide(s,a);return(K||r.isRest)&&!t&&this.keepTerms(),r.runForNumbers(d,this.namesOf(s),l=>(t||this.keepTerms(),Hr(l,e,i,t)))}async change(e,t){if(e.kind==="settle"&&e.isProbe&&await this.probe(e),e.kind==="settle"&&t)return this.settleAndShow(e,t);let{connection:r,scripts:i,prefixes:o}=this,s="limit"in e?ih:Tl,d=i.change(e,o.length,r.time()).map(({call:c,keys:u})=>r.run(c,u.map(this.nameOf),s)),l=d.length===1?await d[0]:await Promise.all(d);return this.keepTerms(),e.kind==="grant"?l:void 0}async settleAndShow({charges:e,chargedAt:t=-1},r){let{connection:i,scripts:o}=this,s=o.settle(e,i.time(),t,!0),a=l=>Ml(l,e,t),d=await i.runForNumbers(s,this.namesOf([e]),a);for(let l of d)r(l)}async probe({charges:e}){let t=`${this.prefixes[0]}${Ae(e[0].key)}}`,{minTtlMs:r}=this.connection.time();await this.connection.run({script:this.probeScript,args:[`${r}`]},[t],Tl)}keepTerms(){performance.now()>=this.terms.dueAt&&this.terms.keep()}namesOf(e){let{prefixes:t,suffixes:r}=this,i=[];for(let o of e)for(let s=0;s<o.length;s+=1)i.push(`${t[s]}${Ae(o[s].key)}${r[s]}`);return i}},rh=["granted","known","too many","too much","ended"];function ih(n){let e=rh[Number(n)];if(e===void 0)throw new TypeError("the reply is not that of the script");return e}function Tl(n){if(n!==null)throw new TypeError("the reply is not that of the script")}$e();wt();var oh=new L(`local at = tonumber(ARGV[1])
if at < 0 then
  local time = redis.call('TIME')
  at = time[1] * 1000 + math.floor(time[2] / 1000)
end
at = string.format('%.0f', at)
local version = redis.call('GETRANGE', KEYS[1], 0, 15)
if version == ARGV[2] then return {at} end
return {at, redis.call('GET', KEYS[1]) or ''}`),sh=new L(`if redis.call('GETRANGE', KEYS[1], 0, 15) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`);function Rl(n){return{read(e,t){let r=[`${n.time().now}`,t];return n.run({script:oh,args:r},[Gi(e)],i=>{let[o,s]=i;return{at:Number(String(o)),text:s===void 0?void 0:String(s)}})},replace(e,t,r,i){let o=[t,r,`${Math.max(i,n.time().minTtlMs)}`],s=[Gi(e)];return n.run({script:sh,args:o},s,a=>Number(a)===1)}}}var ph=new L("for i, key in ipairs(KEYS) do redis.call('SET', key, ARGV[i + 1], 'PX', ARGV[1]) end");function zr(n,e={}){Ar("client",n);let{clock:t}=ua("redisStore",e);$d(n);let r=new Lr(n,t,e.onReadOnly),i=new In((s,a)=>{let d=[`${a}`,...s.map(({text:c})=>c)],l=s.map(({key:c})=>c);return r.run({script:ph,args:d},l,()=>{})});async function*o(s){let{RedisInspection:a}=await Promise.resolve().then(()=>(Nl(),_l));yield*new a(r,()=>zd(n),s,i).entries()}return{mode:"async",clock:e.clock,networks:Rl(r),open:(s,a)=>new Vr(r,s,a,i),inspect:s=>o(lr(s)),close(){}}}var Dl=new WeakMap;function Ul(n){return n===void 0?vr():gh(n)?n:yh(Ar("store",n))}function yh(n){let e=Dl.get(n)??zr(n);return Dl.set(n,e),e}function gh(n){let e=n;return typeof e?.open=="function"&&typeof e.close=="function"}xi();A();j();at();_n();var bh="an object such as { after: 3, within: '1h', for: ['1m', '10m', '1d'] }";function Kl(n,{prefix:e,quota:t},r){let i=N("ban",n,bh);U("ban",i,["after","within","for"]);let o=W("ban.after",i.after,1,Si),s=Wl("ban.within",i.within),a=wh(i.for),d=ha({dryRun:r,windowMs:s,quota:t}),l={limit:o,windowMs:s,bansMs:a};return{name:d,algorithm:Pe,prefix:e,limit:Pe.compile(l),params:l}}function wh(n){let e="Write for: ['1m', '10m', '1d'].";if(Array.isArray(n)&&n.length>=1&&n.length<=Rt)return n.map((t,r)=>Wl(`ban.for[${r}]`,t,e));throw new y({code:"SLUICE_OPTION_TYPE",option:"ban.for",expected:`an array of 1 to ${Rt} durations`,received:n,fix:e})}function Wl(n,e,t){let r=ke(n,e,1,void 0,t);return typeof e=="number"&&Rn(n,r),r}X();var Gl=10,kh=100,Ot=new Map,Bo=!1,Fo=0,Ho=!1,jr=class n{constructor(e){this.madeIn=Fo;this.suspected=!1;this.shape=e}static start(e){if(!Bo)return Ho||(Ho=!0,Promise.resolve().then(vh)),new n(e)}isRuledOut(){return Fo===this.madeIn?(this.suspected||this.suspect(),Bo):(this.end(),!0)}end(){this.suspected&&Bl(this.shape,-1),this.suspected=!1}suspect(){this.suspected=!0,!(Bl(this.shape,1)<Gl)&&(Bo=!0,Ot.clear(),R("SLUICE_MADE_PER_REQUEST",`${Gl} limiters with the same options were each used immediately and never again. A limiter created in a request handler counts only one request and never limits. Create it once, outside the handler, and use it for every request.`))}};function vh(){Ho=!1,Fo+=1}function Bl(n,e){let t=Math.max(0,(Ot.get(n)??0)+e);return Ot.size===kh&&!Ot.has(n)&&Ot.clear(),Ot.set(n,t),t}var Xr=class{constructor(e,t){this.known=new Map;this.policies=e,this.open=t;let r=this.get(e.map(i=>i.keyspace()));e.some(({windowVaries:i})=>i)||(this.only=r)}of(e){return this.only??this.get(e.map(({limit:t},r)=>this.policies[r].keyspace(t)))}all({window:e}={}){return e!==void 0&&this.get(this.policies.map(t=>t.keyspace(t.anyLimit(e)))),[...this.known.values()]}get(e){let t=e.map(({name:i})=>i).join(`
`),r=this.known.get(t);if(r===void 0){r=this.open(e);let[i]=this.known.keys();this.known.size===100&&this.known.delete(i),this.known.set(t,r)}return r}};A();X();var Sh=1e3,Fl=new WeakMap;function Hl(n,e,t,r){let i=Fl.get(n)??new Map;Fl.set(n,i);let o=t.map(s=>{let a=`${e}:${s.space()}`,{terms:d}=s,l=i.get(a)??{terms:d,limiters:0,unaware:0};if(l.terms!==d)throw xh(s,e,l.terms);return{id:a,quota:l,policy:s}});i.size>Sh&&i.clear();for(let{id:s,quota:a,policy:d}of o)i.set(s,a),a.limiters+=1,!r&&(a.unaware>0&&Oh(d.name),a.unaware+=1);return()=>{for(let{id:s,quota:a}of o.splice(0))a.limiters-=1,r||(a.unaware-=1),a.limiters===0&&i.get(s)===a&&i.delete(s)}}function xh(n,e,t){return new y({code:"SLUICE_OPTION_CONFLICT",option:n.at(n.limitOption),expected:`${t}, as in the other limiter on this store`,said:n.terms,fix:`Give one of the limiters its own prefix, such as prefix: 'login', or both the same limit: they share one count, that of prefix '${e}' and policy '${n.name}'.`})}function Oh(n){R("SLUICE_SHARED_QUOTA",`Two limiters on one store have the same options (policy '${n}'), so they share one quota. Without a store each would count separately. Give each its own prefix, such as prefix: 'contact', or, if they are meant to share, give both the same.`)}ht();X();de();fe();B();var Yr=class{constructor(e,t,r,i){this.levels=new WeakMap;this.policies=e,this.limiter=t,this.localShare=r,this.onThreshold=i}get isWatched(){return this.onThreshold!==void 0||Fn.hasSubscribers}charged({allowed:e,policies:t},r,i){if(e)for(let[o,{remaining:s,resetMs:a,limit:d,at:l,source:c}]of t.entries()){let u=r[o],m=s+u.cost;this.report({place:o,limit:d,before:m,remaining:s,resetMs:a,at:l},u,c,i)}}report({place:e,limit:t,before:r,remaining:i,resetMs:o,at:s},{key:a,limit:d},l,c){let{limiter:u,localShare:m}=this,f=this.policies[e],{name:p,alertAt:g,unit:w}=f;if(g===void 0)return;let v=l==="local"?f.localShareOf(d,m):Mh(d,t),{full:S,units:k}=this.levelsOf(v,g,s),Ee=S-i;for(let[H,Q]of g.entries()){let J=k[H];if(Ee<J||S-r>=J)continue;let je=f.windowEndOf(v,s,o);this.publish({limiter:u,route:c,policy:p,unit:w,key:a,threshold:Q,used:Ee,limit:S,windowEndsAt:je,at:s,source:l})}}levelsOf(e,t,r){let i=this.levels.get(e);if(i===void 0){let o=ft(e,r);i={full:o,units:t.map(s=>Ah(s,o))},this.levels.set(e,i)}return i}publish(e){let{onThreshold:t}=this;Fn.hasSubscribers&&Fn.publish(e),t!==void 0&&mt(()=>t(e),Ch)}};function Mh(n,e){if(e===n.units)return n;let{maxDelayMs:t}=n.params;return jt(n,{override:{limit:e,maxDelayMs:t},granted:0})}function Ah(n,e){let t=/^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/.exec(String(n)),[,r="",i="",o="0"]=t,s=10n**BigInt(i.length+Number(o)),a=BigInt(r+i)*BigInt(e);return Number((a+s-1n)/s)}function Ch(n){R("SLUICE_ON_THRESHOLD",`onThreshold threw ${Se(n)}. The charge is not affected. Fix the callback.`)}function Vl(n,e,t={}){let r=V(b.store,"",e),{scope:i=ed,dryRun:o=!1}=t,s=r.prefix+i,a=Ul(e.store),d=e.store===void 0,l=t.bannedQuota??{prefix:s,quota:n[0].space()},c=r.ban===void 0?void 0:Kl(r.ban,l,o),u=e.prefix!==void 0||t.sharesQuotas===!0,m=d?void 0:Hl(a,s,n,u),f=Eh(a,n,r,t.settles??!1),p=f??a,g=new Xr(n,k=>p.open({policies:k,ban:c},s)),w=n.filter(({holdMs:k})=>k!==void 0),v=w.length>0?new Jn(w):void 0,S=n.map(k=>`${k.space()} ${k.terms}`);return{policies:n,store:a,ledgers:g,bannedQuota:l,events:Th(n,e,r.localShare,o),networks:fd(a,r.prefix),maxWaiting:r.maxWaiting,onDecision:t.onDecision,held:v,singleUse:d?jr.start(`${S}`):void 0,release(){f?.close(),m?.(),v?.close(),d&&a.close()}}}function Eh(n,e,t,r){if(n.mode==="sync")return;let{deadline:i,onStoreError:o,refusalCache:s,localShare:a}=t;return Id(n,{deadlineMs:i,onStoreError:o,refusalCache:s,settles:r,localShare:a,localLimit:(d,l)=>e[d].localShareOf(l,a)})}function Th(n,e,t,r){let{name:i,keySecret:o}=V(b.events,"",e),s=n.some(({alertAt:a})=>a!==void 0)?new Yr(n,i,t,e.onThreshold):void 0;return new nr(n,i,o,r,s)}M();A();j();B();var Rh=864e13,Lh=24;function zl({policies:n,now:e},t,r){if(r===null)return n.flatMap((l,c)=>(l.reserves?[]:l.anyLimits()).map(u=>ql(c,t,u)));U("",N("override",r,"an object such as { limit: 1000 }, or null"),["policy","limit","until","window"]);let i=Yl(n,r.policy),o=n[i];if(o.reserves)throw Jl("override()");let s=o.someLimit(r.window);if(r.limit===null)return[ql(i,t,s)];let a=Zl(r.until,e)??1/0,d={...o.ownParams(r.limit),until:a};return[{kind:"override",policy:i,key:t,limit:s,override:d}]}function jl({policies:n,now:e},t,r,i={}){W("units",r,1,1e12);let o=N("options",i,"the options of a top-up");U("",o,["policy","until","id","window","anchor"]);let s=Yl(n,i.policy),a=n[s];if(a.reserves)throw Jl("grant()");let d=a.someLimit(i.window,i.anchor);if(d.grantEnd===void 0)throw Ih(d);let l={units:r,until:Zl(i.until,e),id:Ph(i.id)};return{kind:"grant",policy:s,key:t,limit:d,grant:l}}function Xl(n,{limit:e,grant:t},r){if(n==="too many"||n==="too much")throw $h(n,e,t.units);if(n==="ended")throw Ql(r?.until,!0);return n==="granted"}function ql(n,e,t){return{kind:"override",policy:n,key:e,limit:t,override:void 0}}function Yl(n,e){let t=n.map(r=>r.name);return e===void 0&&t.length===1?0:t.indexOf(Je("policy",e,t))}function Zl(n,e){if(n===void 0)return;let t=n instanceof Date?n.getTime():n;if(typeof t=="number"&&Number.isInteger(t)&&t>e&&t<=Rh)return t;throw Ql(n,typeof t=="number")}function Ql(n,e){return new y({code:e?"SLUICE_OPTION_RANGE":"SLUICE_OPTION_TYPE",option:"until",expected:"a Date, or integer ms since the epoch, after now",received:n,fix:"Give until as a moment: new Date(Date.now() + 86_400_000) is in a day."})}function Ph(n){if(n===void 0)return"";if(typeof n=="string"&&n!=="")return Ye("sha256",n,"utf16le","hex").slice(0,Lh);throw new y({code:"SLUICE_OPTION_TYPE",option:"id",expected:"text of at least one character",received:n,fix:"Give the id of what was paid, such as that of the invoice, or leave id out."})}function Jl(n){return C(n,"a policy without reserve",!0,"Make the limit a function of the request that knows the client's own limit, or remove reserve.")}function Ih({algorithm:n}){return C("grant()","a policy that counts in windows",n.name,"Raise the client's limit by override() instead, or choose algorithm: 'sliding-window'.")}function $h(n,{algorithm:e},t){let{maxLimit:r}=e;return n==="too many"?new y({code:"SLUICE_OPTION_RANGE",option:"grant()",expected:`at most ${Z} top-ups of a key that have not ended`,received:Z+1,fix:"Raise the limit by override(), or make top-ups that end together without an id, which count as one."}):new y({code:"SLUICE_OPTION_RANGE",option:"units",expected:`so many that the client's limit stays up to ${r}`,received:t,fix:"Add fewer units."})}function ec(n,e,t){let r=!n.allowed;return{...n,cancel:()=>r?e==="async"?Promise.resolve():void 0:(r=!0,t())}}var _h=["store","cache","local","allow","deny"],Nh=["consume","takeTurn","acquire","peek","settle","reset","block","override","grant"],Qr=class extends rr{constructor(t,r,i,o){super(Vl(t,r,i));this.charges=this.blankCharges();if(this.clients=o,this.store.mode==="async")for(let s of Nh)Dh(this,s)}consume(t,r){ue(r,ce.consume),this.checkHoldsNothing("consume");let i=this.fill(t,Zr(r),r);return this.decideAndReport(i,r?.address)}async wait(t,r={}){return ue(r,ce.wait),this.checkHoldsNothing("wait"),this.waitFor(this.fill(t,Zr(r),r,this.blankCharges()),r)}takeTurn(t,r){if(ue(r,ce.consume),this.checkHoldsNothing("takeTurn"),!this.policies.some(({algorithm:o})=>o.options.maxDelay!==void 0))throw Kh(this.policies[0]);let i=this.fill(t,Zr(r),r,this.blankCharges());return P(this.decideAndReport(i,r?.address),o=>ec(o,this.store.mode,()=>this.settleCharges(Ke(i),o)))}acquire(t,r){if(ue(r,ce.wait),this.held===void 0)throw tc("acquire","consume","a policy that has concurrent or reserve");let i=Zr(r),o=this.fill(t,i,r,this.blankCharges());o.forEach((a,d)=>{let{holdsSlots:l,reserves:c}=this.policies[d];l&&Object.assign(a,{cost:1,slot:io()}),c&&i>0&&(a.slot=io())});let s=r?.maxWait===void 0?this.decideAndReport(o,r?.address):this.waitFor(o,r);return P(s,a=>{let d=this.hold(o,a,l=>this.events.released(l,o,void 0));return $a(a,this.store.mode,d,(l=i)=>this.settleAcquired(o,a,i,l))})}settleAcquired(t,r,i,o){let s=o-i;if(s===0&&!this.policies.some(({reserves:c})=>c))return;let a=t.map((c,u)=>{let{holdsSlots:m,reserves:f}=this.policies[u];return m?{...c,cost:0,slot:void 0}:{...c,cost:s,reserved:f&&i>0?i:void 0}}),{policies:d}=r,l=s<0?d:d.map(({source:c})=>({source:c}));return this.settleCharges(a,{policies:l})}peek(t,r){ue(r,ce.peek);let i=this.fill(t,0,r),o=this.blockedMs(i[0].key,r?.address);return o>0?this.asPromised(this.refuseNetwork(i,o)):this.preview(i)}settle(t,r,i){ue(i,ce.settle);let o=cs(this.policies.map(({algorithm:g})=>g)),s=W("delta",r,-o,o),{at:a,source:d,remaining:l}=i??{};d!==void 0&&Je("source",d,_h),a!==void 0&&W("at",a,0,Number.MAX_SAFE_INTEGER),l!==void 0&&W("remaining",l,0,Number.MAX_SAFE_INTEGER);let c=this.fill(t,s,i).map(g=>({...g,remaining:l})),[{key:u}]=c,m=this.events.raised(c,this.policies.map(()=>({source:d})),void 0),f={kind:"settle",charges:c,chargedAt:a,source:d},p=this.ledgers.of(c).change(f,m);return this.events.settled(this.waking(u,p),c,void 0)}reset(t,r){return ue(r,ce.block),this.isNetwork(t,r)?this.networks.unblock(Yi(t)):this.everywhere(t,(i,o)=>i.waking(o,i.changeAll({kind:"reset",key:o},r)))}override(t,r){let i=this.keyOf(t),o=zl(this.withOwnLimits(),i,r);return this.waking(i,ut(o.map(s=>this.changeOwn(s))))}grant(t,r,i){let o=this.keyOf(t),s=jl(this.withOwnLimits(),o,r,i),a=P(this.changeOwn(s),d=>Xl(d,s,i));return this.waking(o,a)}block(t,r,i){ue(i,ce.block);let o=ke("duration",r);return this.isNetwork(t,i)?this.networks.block(Yi(t),o):this.everywhere(t,(s,a)=>{let d=a.includes("/")?De(a):void 0;return d!==void 0&&ne(d.network)&&Uh(),s.changeAll({kind:"block",key:a,durationMs:o},i)})}close(){for(let t of this.clients?.siblings()??[])t!==this&&t.close();super.close()}keyOf(t){return this.clients===void 0?Bn(t):this.clients.keyOf(t)}isNetwork(t,r){return r?.network!==void 0||typeof t!="string"?!!r?.network:this.clients?.isNetwork(t)??!1}everywhere(t,r){return this.clients===void 0?r(this,Bn(t)):ut(this.clients.everywhere(t).map(({limiter:i,key:o})=>r(i,o)))}changeAll(t,r){return ut(this.ledgers.all(r).map(i=>i.change(t)))}decideAndReport(t,r){let i=this.blockedMs(t[0].key,r);if(this.onDecision===void 0&&!this.isWatched&&i===0)return this.decide(t);let o=performance.now();return P(this.decideOwn(t,i),s=>(this.report(s,t,performance.now()-o),s))}checkHoldsNothing(t){if(this.held!==void 0)throw tc(t,"acquire","no policy that has concurrent or reserve")}withOwnLimits(){return{policies:this.policies,now:(this.store.clock??Date.now)()}}changeOwn(t){let{policy:r,limit:i}=t,o=this.policies.map((s,a)=>({key:"",cost:0,limit:a===r?i:s.anyLimit()}));return this.ledgers.of(o).change(t)}fill(t,r,i,o=this.store.mode==="sync"?this.charges:this.blankCharges()){let s=this.clients===void 0?Bn(t):this.clients.keyOf(t);for(let a=0;a<o.length;a+=1){let d=o[a],l=this.policies[a];d.key=s,d.limit=l.compiledLimit??l.limitFor(i?.limit,i?.anchor,i?.window),d.cost=r}return o}blankCharges(){return this.policies.map(()=>({key:"",limit:void 0,cost:0}))}};function Dh(n,e){let t=n[e],r=(...i)=>{try{return t.apply(n,i)}catch(o){return Promise.reject(o)}};Object.assign(n,{[e]:r})}function Zr(n){return n?.cost===void 0?1:Gn(n.cost)}function Uh(){R("SLUICE_KEY_KIND","block was called with a key that looks like a network of addresses. It blocks the one client with this key. To block the network, add the option { network: true }.")}function Kh({algorithm:n}){return C("takeTurn()","a policy with algorithm: 'leaky-bucket'",n.name,"Call wait() instead, which works with every algorithm: only a leaky bucket knows its turns in advance.")}function tc(n,e,t){return C(`${n}()`,`a limiter with ${t}`,void 0,`Call ${e}() instead: only what acquire() takes is given back.`)}function nc(n){N("options",n,"the options of a limiter"),U("",n,G.limiter);let e=Sa(n,G.policy);for(let t of e)t.assertStatic();return new Qr(e,n,{onDecision:n.onDecision})}0&&(module.exports={createLimiter,redisStore});
