-- Turns whose readers are at other processes than the one that runs them, and their text as it grows. What a crash takes of it is not missed.
CREATE UNLOGGED TABLE followed_turn (
  agent_id TEXT COLLATE "C" NOT NULL,
  lease TEXT COLLATE "C" NOT NULL,
  asked_at BIGINT NOT NULL,
  PRIMARY KEY (agent_id, lease)
);
-- `start` is the place of a piece in the text, in UTF-16 units; behind the last stands an empty one.
CREATE UNLOGGED TABLE followed_text (
  agent_id TEXT COLLATE "C" NOT NULL,
  lease TEXT COLLATE "C" NOT NULL,
  start BIGINT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (agent_id, lease, start)
);
