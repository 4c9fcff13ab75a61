-- Times are milliseconds since 1970, UTC. Every table of an agent's data starts its key with the agent, and no foreign key leads out of it:
-- that is what a distributed PostgreSQL needs to keep an agent's rows together. Ids are compared byte by byte, as everywhere.

CREATE TABLE agent (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT NOT NULL,
  settings TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);

-- A session is leased to the turn that runs in it: to nobody else until the turn ends, or the time is over because its process died.
CREATE TABLE session (
  agent_id TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  name TEXT NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL,
  message_count BIGINT NOT NULL DEFAULT 0,
  last_message_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  lease TEXT COLLATE "C",
  lease_until BIGINT,
  PRIMARY KEY (agent_id, id)
) WITH (fillfactor = 80);
CREATE INDEX session_activity ON session (agent_id, last_message_at DESC, id DESC);
CREATE INDEX session_of_user ON session (agent_id, user_id, last_message_at DESC, id DESC);
CREATE INDEX session_lease ON session (lease_until) WHERE lease IS NOT NULL;

-- seq is the place in the session, from 1 without gaps: the order of history and of its pages.
-- turn is set on USER messages only; markdown only where content is HTML; detail is JSON (sources, usage, follow-ups, grounding);
-- feedback is JSON, on replies only; took_ms and answered (0 or 1) are of replies, null where they are not known.
CREATE TABLE message (
  agent_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  markdown TEXT,
  model TEXT,
  turn TEXT,
  detail TEXT,
  feedback TEXT,
  took_ms BIGINT,
  answered SMALLINT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (agent_id, session_id, seq)
);
CREATE UNIQUE INDEX message_id ON message (agent_id, session_id, id);

-- What a reply said before it was made anew; version counts from 1.
CREATE TABLE message_version (
  agent_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  message_id TEXT COLLATE "C" NOT NULL,
  version BIGINT NOT NULL,
  content TEXT NOT NULL,
  markdown TEXT,
  model TEXT,
  detail TEXT,
  feedback TEXT,
  replaced_at BIGINT NOT NULL,
  PRIMARY KEY (agent_id, session_id, message_id, version)
);

-- What is left of the messages up to a place (seq) in prompts, once a session is long.
CREATE TABLE summary (
  agent_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  upto BIGINT NOT NULL,
  text TEXT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (agent_id, session_id)
);

-- Sessions whose rows are gone but whose messages are still being deleted, in slices.
CREATE TABLE purge (
  agent_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (agent_id, session_id)
);

-- Of the whole deployment, like `agent`.
CREATE TABLE api_key (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT COLLATE "C" NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  scopes TEXT NOT NULL,
  agent_ids TEXT,
  expires_at BIGINT,
  last_used_at BIGINT,
  fixed SMALLINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL
);

-- Answers kept for replays, by the API key and the hash of the caller's Idempotency-Key: one key of a caller names one request, whichever agent it
-- went to. Without an answer it is a claim: the request is being worked on until claimed_until at the latest. session_id is empty where the
-- answer belongs to none.
CREATE TABLE kept_answer (
  api_key_id TEXT COLLATE "C" NOT NULL,
  key_hash TEXT COLLATE "C" NOT NULL,
  fingerprint TEXT NOT NULL,
  agent_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  claim TEXT COLLATE "C" NOT NULL,
  claimed_until BIGINT NOT NULL,
  status BIGINT,
  answer TEXT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (api_key_id, key_hash)
);
CREATE INDEX kept_answer_session ON kept_answer (agent_id, session_id);
CREATE INDEX kept_answer_age ON kept_answer (created_at);
