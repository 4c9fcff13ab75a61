-- One row, made at the first start: what tokens of users are signed with. No request can read it, so that no holder of an API key can sign.
CREATE TABLE token_secret (
  id SMALLINT PRIMARY KEY CHECK (id = 1),
  -- 32 random bytes, hexadecimal.
  secret TEXT NOT NULL
);
