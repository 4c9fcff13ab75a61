-- The version of the base that brought its metadata or its passages: whoever keeps what a filter lets through looks at those that came since.
ALTER TABLE knowledge_document ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;
CREATE INDEX knowledge_document_changed ON knowledge_document (agent_id, changed, number);
