-- The end user whose text an answer holds that belongs to no session, so that it goes when the user is erased; empty for all others.
ALTER TABLE kept_answer ADD COLUMN user_id TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX kept_answer_user ON kept_answer (agent_id, user_id) WHERE user_id <> '';
