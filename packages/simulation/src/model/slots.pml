/*
 * Slots, reservations and an own limit of one client, in Promela: `npm run simulate -- --model` lets Spin try all
 * interleavings. Each atomic step is one script of the store, and does what concurrency.ts, reserved.ts and
 * own-terms.ts do; a process behaves as held-slots.ts does.
 *
 * Two processes each make a request. It takes a slot, and reserves one unit. While it is worked on, its
 * process renews both, in each third of `hold`. It ends with a release, which settles what it has really cost, or
 * its process dies. The last renewal may arrive after that. An operator gives the client an own limit, which ends
 * by itself. The store fails over once and loses its last writes: it is as its replica was. Its clock goes on,
 * and steps once, forward or back.
 *
 * Times are thirds of `hold` that are left. The window of the count is longer than all this takes.
 * Each MUTANT_… is a mistake, with which Spin must find an error.
 */

#define SLOTS 2				/* each request has a number of its own, and each process one request */
#define HOLD 2
#define LIMIT 1				/* slots, by the policy */
#define OWN_LIMIT 2			/* slots, by the client's own limit */

/* What a store keeps of the client. */
typedef Store {
	byte held[SLOTS];		/* how long each slot is held; 0: it is free */
	bool reserved[SLOTS];		/* whether one unit of the count is the estimate of this request */
	byte reservedFor[SLOTS];	/* how long it is; 0: it is given back by the next look */
	byte count;			/* units */
	byte settled;			/* units that requests have really cost: only the checks read it */
	byte own;			/* how long the own limit applies; 0: there is none */
	bool ahead;			/* whether its times are of before the clock stepped back */
}

Store store;
Store replica;				/* what the store is after a failover */

/* What is true of the processes, whatever the store believes. */
bool works[2];				/* it has a slot, and lives */
bool fresh[2];				/* it has renewed in this third */
bool unknown[2];			/* its slot may have been lost since it last renewed */
bool late[SLOTS];			/* a renewal of this slot is still on its way */
bool hasFailed, hasStepped;
byte quiet;				/* thirds since anything has happened that may hold something */

hidden byte i;

inline countHeld(n) {
	n = 0;
	for (i : 0 .. SLOTS - 1) { if :: store.held[i] > 0 -> n++ :: else fi }
}

/*
 * What is held is charged, and nothing else is: the count is what requests have cost and what is reserved. Who
 * works has a slot, unless a fault has just taken it.
 */
inline check() {
	reservations = 0;
	for (i : 0 .. SLOTS - 1) { if :: store.reserved[i] -> reservations++ :: else fi }
	assert(store.count == store.settled + reservations);
	for (i : 0 .. SLOTS - 1) { assert(store.held[i] > 0 || !works[i] || unknown[i]) }
}

/* What the dead held has come back `hold` after the last thing that happened, and the own limit has ended. */
inline checkReturned() {
	if
	:: quiet == HOLD && !works[0] && !works[1] ->
		for (i : 0 .. SLOTS - 1) { assert(store.held[i] == 0 && store.reservedFor[i] == 0) };
		assert(store.own == 0)
	:: else
	fi
}

/* Whoever looks at the key gives back the reservations that have expired; nothing is held for longer than HOLD. */
inline look() {
#ifndef MUTANT_NOT_REBASED
	for (i : 0 .. SLOTS - 1) {
		if :: store.held[i] > HOLD -> store.held[i] = HOLD :: else fi;
		if :: store.reservedFor[i] > HOLD -> store.reservedFor[i] = HOLD :: else fi
	}
#endif
	store.ahead = false;
	for (i : 0 .. SLOTS - 1) {
		if
		:: store.reserved[i] && store.reservedFor[i] == 0 ->
			store.reserved[i] = false;
			store.count--
		:: else
		fi
	}
}

inline renew(slot) {
	look();
#ifdef MUTANT_RENEWAL_ONLY_OF_KNOWN
	if :: store.held[slot] > 0 -> store.held[slot] = HOLD :: else fi;
#else
	store.held[slot] = HOLD;	/* also if the store has lost it */
#endif
#ifdef MUTANT_RESERVATION_REVIVED
	store.reserved[slot] = true;
#endif
	if :: store.reserved[slot] -> store.reservedFor[slot] = HOLD :: else fi
}

/* @param cost what the request has really cost */
inline release(slot, cost) {
	look();
#ifdef MUTANT_RELEASE_OF_ANY
	for (i : 0 .. SLOTS - 1) { store.held[i] = 0 };
#else
	store.held[slot] = 0;
#endif
	if
	:: store.reserved[slot] ->
#ifndef MUTANT_RESERVATION_KEPT
		store.reserved[slot] = false;
#endif
		store.count = store.count - 1 + cost
	:: else ->
#ifdef MUTANT_SETTLED_BLINDLY
		/* It was given back: the difference alone is too little. */
		store.count = (store.count + cost > 0 -> store.count + cost - 1 : 0)
#else
		store.count = store.count + cost
#endif
	fi;
	store.settled = store.settled + cost
}

proctype Process(byte me) {
	bool hasAsked;
	byte n, reservations, limit, known;
	do
	:: !hasAsked && !works[me] ->
		/* Asks for a slot, and is admitted if there is one. A refusal charges nothing. */
		atomic {
			look();
			countHeld(n);
			limit = (store.own > 0 -> OWN_LIMIT : LIMIT);
			if
#ifdef MUTANT_ONE_TOO_MANY
			:: n <= limit ->
#else
			:: n < limit ->
#endif
				store.held[me] = HOLD;
				store.reserved[me] = true;
				store.reservedFor[me] = HOLD;
				store.count++;
				/* Of the slots that no fault can have taken from the store, there are never too many. */
				known = (works[1 - me] && !unknown[1 - me] -> 1 : 0);
				assert(known < limit);
				works[me] = true; fresh[me] = true; unknown[me] = false; quiet = 0
			:: else
			fi;
			hasAsked = true;
			check(); n = 0; limit = 0; known = 0; reservations = 0
		}
	:: works[me] && !fresh[me] ->
		atomic {
			renew(me);
			fresh[me] = true; unknown[me] = false; quiet = 0;
			check(); reservations = 0
		}
	:: works[me] ->
		/* The response is over. */
		atomic {
			if
			:: release(me, 0)
			:: release(me, 1)
			fi;
			works[me] = false; quiet = 0;
			if :: late[me] = true :: skip fi;
			check(); reservations = 0
		}
#ifdef MUTANT_RENEWED_FOR_EVER
	:: !works[me] && hasAsked -> atomic { renew(me) }
#endif
	:: works[me] ->
		/* kill -9 */
		atomic { works[me] = false; quiet = 0; if :: late[me] = true :: skip fi }
		break
	:: hasAsked && !works[me] -> break
	od
}

/* Renewals that come after their request has ended. */
proctype Network() {
	byte slot, reservations;
end:	do
	:: atomic { store.ahead -> look(); check(); reservations = 0 }	/* a client that asks */
	:: atomic { late[0] -> late[0] = false; quiet = 0; slot = 0; renew(slot); check(); slot = 0; reservations = 0 }
	:: atomic { late[1] -> late[1] = false; quiet = 0; slot = 1; renew(slot); check(); slot = 0; reservations = 0 }
	od
}

inline copy(from, to) {
	for (i : 0 .. SLOTS - 1) {
		to.held[i] = from.held[i];
		to.reserved[i] = from.reserved[i];
		to.reservedFor[i] = from.reservedFor[i]
	}
	to.count = from.count;
	to.settled = from.settled;
	to.own = from.own;
	to.ahead = from.ahead
}

/* The replica follows the store, and takes its place once: what it did not have is lost. */
proctype Replica() {
end:	do
	:: atomic { !hasFailed -> copy(store, replica) }
	:: atomic {
		!hasFailed -> hasFailed = true; quiet = 0;
		copy(replica, store);
		unknown[0] = works[0]; unknown[1] = works[1];
		/* No process ever knows what the replica was: it need not be told apart. */
		for (i : 0 .. SLOTS - 1) {
			replica.held[i] = 0; replica.reserved[i] = false; replica.reservedFor[i] = 0
		}
		replica.count = 0; replica.settled = 0; replica.own = 0; replica.ahead = false
	   }
	od
}

proctype Operator() {
	byte reservations;
	atomic {
		quiet = 0;
		store.own = HOLD;
#ifdef MUTANT_OVERRIDE_WITHOUT_COUNT
		store.count = 0;
#endif
		check(); reservations = 0
	}
}

inline pass(what) {
	for (i : 0 .. SLOTS - 1) {
#ifndef MUTANT_NEVER_EXPIRES
		if :: what.held[i] > 0 -> what.held[i]-- :: else fi;
#endif
		if :: what.reservedFor[i] > 0 -> what.reservedFor[i]-- :: else fi
	}
#ifdef MUTANT_COUNT_ENDS_WITH_OVERRIDE
	if :: what.own == 1 -> what.count = 0 :: else fi;
#endif
#ifndef MUTANT_OVERRIDE_FOR_EVER
	if :: what.own > 0 -> what.own-- :: else fi
#endif
}

/* What is held ends later. */
inline stepBack(what) {
	for (i : 0 .. SLOTS - 1) {
		if :: what.held[i] > 0 -> what.held[i] = HOLD + 1 :: else fi;
		if :: what.reservedFor[i] > 0 -> what.reservedFor[i] = HOLD + 1 :: else fi
	}
	what.ahead = true
}

/* A third passes once every process that works has renewed. */
proctype Clock() {
	byte reservations;
end:	do
	:: atomic {
		(fresh[0] || !works[0]) && (fresh[1] || !works[1]) ->
		pass(store); pass(replica);
		fresh[0] = false; fresh[1] = false;
		if :: quiet < HOLD && !store.ahead -> quiet++ :: else fi;
		checkReturned();
		check(); reservations = 0
	   }
	:: atomic {
		!hasStepped -> hasStepped = true;
		pass(store); pass(store); pass(replica); pass(replica);
		unknown[0] = works[0]; unknown[1] = works[1];
		check(); reservations = 0
	   }
	:: atomic {
		!hasStepped -> hasStepped = true; quiet = 0;
		stepBack(store); stepBack(replica)
	   }
	od
}

init {
	atomic { run Process(0); run Process(1); run Network(); run Replica(); run Operator(); run Clock() }
}
