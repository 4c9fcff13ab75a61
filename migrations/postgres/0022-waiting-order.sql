-- What waits does so by the time of its last change: otherwise one that changes all the time would keep newer ones waiting.
DROP INDEX knowledge_document_work;
CREATE INDEX knowledge_document_fetch ON knowledge_document (agent_id, updated_at, number) WHERE work = 'fetch';
CREATE INDEX knowledge_document_index ON knowledge_document (agent_id, updated_at, number) WHERE work IS NOT NULL AND work <> 'fetch';
