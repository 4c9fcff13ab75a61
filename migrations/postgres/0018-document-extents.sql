-- Documents and their passages are counted by this index.
CREATE INDEX knowledge_document_extent ON knowledge_document (agent_id, first, last);
