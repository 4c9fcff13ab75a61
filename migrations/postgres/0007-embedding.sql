-- The process that has passages of a base embedded, until when by the server's clock: others need not pay for the same vectors.
ALTER TABLE knowledge_manifest ADD COLUMN embedder TEXT COLLATE "C", ADD COLUMN embeds_until TIMESTAMPTZ;
CREATE INDEX knowledge_manifest_embedder ON knowledge_manifest (agent_id) WHERE embedder IS NOT NULL;
