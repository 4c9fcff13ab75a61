-- What processes that share the database tell each other.

-- Goes up with every change of an agent or a key, so that whoever remembers them can tell whether that still holds.
CREATE TABLE generation (n BIGINT NOT NULL);
INSERT INTO generation VALUES (0);

-- A process that serves the database, when it last said so, and the lock that it holds as long as it lives, where it holds one.
CREATE TABLE replica (
  id TEXT COLLATE "C" PRIMARY KEY,
  seen_at BIGINT NOT NULL,
  lock_id BIGINT
);

-- Sends that wait for their session, in order of arrival; a replica's own are in the order that it keeps itself.
CREATE TABLE waiting_send (
  agent_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  place BIGINT NOT NULL,
  replica TEXT COLLATE "C" NOT NULL,
  until BIGINT NOT NULL,
  PRIMARY KEY (agent_id, session_id, place)
);

-- Turns that are to be stopped by the replica that runs them, by their lease.
CREATE TABLE stop_request (
  agent_id TEXT COLLATE "C" NOT NULL,
  lease TEXT COLLATE "C" NOT NULL,
  asked_at BIGINT NOT NULL,
  PRIMARY KEY (agent_id, lease)
);

-- Claims of a process that is gone are looked for by their front part, which names it.
CREATE INDEX kept_answer_open ON kept_answer (claim) WHERE answer IS NULL;
