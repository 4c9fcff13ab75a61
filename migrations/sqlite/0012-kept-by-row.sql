-- Answers may be long. In a table without row numbers, whoever looked for a key read the whole rows that it was compared with, of other callers, too.
CREATE TABLE kept_answer_by_row (
  api_key_id TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  user_id TEXT NOT NULL DEFAULT '',
  claim TEXT NOT NULL,
  claimed_until INTEGER NOT NULL,
  status INTEGER,
  created_at INTEGER NOT NULL,
  answer TEXT,
  PRIMARY KEY (api_key_id, key_hash)
) STRICT;
INSERT INTO kept_answer_by_row (api_key_id, key_hash, fingerprint, agent_id, session_id, user_id, claim, claimed_until, status, created_at, answer)
  SELECT api_key_id, key_hash, fingerprint, agent_id, session_id, user_id, claim, claimed_until, status, created_at, answer FROM kept_answer;
DROP TABLE kept_answer;
ALTER TABLE kept_answer_by_row RENAME TO kept_answer;
CREATE INDEX kept_answer_session ON kept_answer (agent_id, session_id, key_hash);
CREATE INDEX kept_answer_age ON kept_answer (created_at);
CREATE INDEX kept_answer_user ON kept_answer (agent_id, user_id) WHERE user_id <> '';
CREATE INDEX kept_answer_open ON kept_answer (claim) WHERE answer IS NULL;
