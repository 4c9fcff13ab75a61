-- What was spent in a day (days since 1970, UTC) of each budget, what is set aside for calls that run included; calls is how many do.
CREATE TABLE spending (
  id TEXT NOT NULL,
  day INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cost REAL NOT NULL,
  calls INTEGER NOT NULL,
  PRIMARY KEY (id, day)
) STRICT, WITHOUT ROWID;

-- JSON: { tokensPerDay, costPerDay }; null for keys without.
ALTER TABLE api_key ADD COLUMN budget TEXT;
