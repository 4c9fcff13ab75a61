-- A session is leased to the turn that runs in it: to nobody else until the turn ends, or the time is over because its process died.
ALTER TABLE session ADD COLUMN lease TEXT;
ALTER TABLE session ADD COLUMN lease_until INTEGER;
CREATE INDEX session_lease ON session (lease_until) WHERE lease IS NOT NULL;
DROP INDEX message_running;

-- JSON, on replies only: { rating, comment }.
ALTER TABLE message ADD COLUMN feedback TEXT;

-- What a reply said before it was made anew; version counts from 1.
CREATE TABLE message_version (
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  content TEXT NOT NULL,
  markdown TEXT,
  model TEXT,
  detail TEXT,
  feedback TEXT,
  replaced_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, session_id, message_id, version)
) STRICT, WITHOUT ROWID;

-- What is left of the messages up to a place (seq) in prompts, once a session is long.
CREATE TABLE summary (
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  upto INTEGER NOT NULL,
  text TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, session_id)
) STRICT, WITHOUT ROWID;

-- Answers kept for replays, by the API key and the hash of the caller's Idempotency-Key. Without an answer it is a claim: the request is being
-- worked on until claimed_until at the latest. session_id is empty where the answer belongs to none.
CREATE TABLE kept_answer (
  api_key_id TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  claim TEXT NOT NULL,
  claimed_until INTEGER NOT NULL,
  status INTEGER,
  answer TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (api_key_id, key_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_answer_session ON kept_answer (agent_id, session_id);
CREATE INDEX kept_answer_age ON kept_answer (created_at);
