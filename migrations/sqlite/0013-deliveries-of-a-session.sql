-- Deliveries of a session are deleted in this order, some at a time.
DROP INDEX webhook_delivery_session;
CREATE INDEX webhook_delivery_session ON webhook_delivery (agent_id, session_id, id);
