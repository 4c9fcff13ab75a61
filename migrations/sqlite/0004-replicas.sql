-- What processes that share a database tell each other; of one process alone these tables stay empty.

-- Goes up with every change of an agent or a key, so that whoever remembers them can tell whether that still holds.
CREATE TABLE generation (n INTEGER NOT NULL) STRICT;
INSERT INTO generation VALUES (0);

-- A process that serves the database, when it last said so, and the lock that it holds as long as it lives, where it holds one.
CREATE TABLE replica (
  id TEXT PRIMARY KEY,
  seen_at INTEGER NOT NULL,
  lock_id INTEGER
) STRICT, WITHOUT ROWID;

-- Sends that wait for their session, in order of arrival; a replica's own are in the order that it keeps itself.
CREATE TABLE waiting_send (
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  replica TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (agent_id, session_id, place)
) STRICT, WITHOUT ROWID;

-- Turns that are to be stopped by the replica that runs them, by their lease.
CREATE TABLE stop_request (
  agent_id TEXT NOT NULL,
  lease TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, lease)
) STRICT, WITHOUT ROWID;

-- Claims of a process that is gone are looked for by their front part, which names it.
CREATE INDEX kept_answer_open ON kept_answer (claim) WHERE answer IS NULL;
