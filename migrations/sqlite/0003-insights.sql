-- Of replies: how long the turn took, and whether the knowledge base held the answer (0 or 1). Null where it is not known, as of imported ones.
ALTER TABLE message ADD COLUMN took_ms INTEGER;
ALTER TABLE message ADD COLUMN answered INTEGER;
