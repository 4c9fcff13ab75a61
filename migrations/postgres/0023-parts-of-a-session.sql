-- What belongs to a session is deleted in this order, some at a time.
DROP INDEX kept_answer_session;
CREATE INDEX kept_answer_session ON kept_answer (agent_id, session_id, key_hash);
DROP INDEX webhook_delivery_session;
CREATE INDEX webhook_delivery_session ON webhook_delivery (agent_id, session_id, id);
