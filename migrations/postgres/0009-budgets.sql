-- What was spent in a day (days since 1970, UTC) of each budget, what is set aside for calls that run included; calls is how many do.
CREATE TABLE spending (
  id TEXT COLLATE "C" NOT NULL,
  day BIGINT NOT NULL,
  tokens BIGINT NOT NULL,
  cost DOUBLE PRECISION NOT NULL,
  calls BIGINT NOT NULL,
  PRIMARY KEY (id, day)
);

-- JSON: { tokensPerDay, costPerDay }; null for keys without.
ALTER TABLE api_key ADD COLUMN budget TEXT;
