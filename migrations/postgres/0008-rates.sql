-- How many requests of one caller the processes have taken for themselves, until when: in the time that a rate is told for. A crash may forget it.
CREATE UNLOGGED TABLE rate_window (
  id TEXT COLLATE "C" PRIMARY KEY,
  ends_at BIGINT NOT NULL,
  taken BIGINT NOT NULL
);
CREATE INDEX rate_window_end ON rate_window (ends_at);
