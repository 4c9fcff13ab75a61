-- A filter looks at documents with passages alone.
DROP INDEX knowledge_document_changed;
CREATE INDEX knowledge_document_changed ON knowledge_document (agent_id, changed, number) WHERE last >= first;
