// The functions of the client by module, each with the operation that it calls and its description.

export type ClientFunction = [name: string, operationId: string, about: string]

/**
 * Generated functions. The name says what kind of function it is: `iterate…` yields the items of all pages of a list,
 * `stream…` yields the events of a turn, and any other name resolves to the response.
 */
export const MODULES: Record<string, ClientFunction[]> = {
  agents: [
    ['create', 'createAgent', 'Creates an agent.'],
    ['list', 'listAgents', 'Lists agents, newest first, a page at a time.'],
    ['iterate', 'listAgents', 'Yields all agents, newest first.'],
    ['get', 'getAgent', 'Reads an agent, with its counts.'],
    ['profile', 'getProfile', "Reads an agent's public profile. A user token is enough."],
    ['usage', 'getAgentUsage', "Reads how much of the day's budget an agent, or one of its users, has used."],
    ['update', 'updateAgent', 'Changes an agent. Nested objects are merged field by field.'],
    [
      'preview',
      'previewAgent',
      'Tries changes to an agent in a conversation that is not stored. Resolves to the complete answer.',
    ],
    [
      'streamPreview',
      'previewAgent',
      "Tries changes to an agent and yields the turn's events. Repeats the request if the stream breaks.",
    ],
    ['delete', 'deleteAgent', 'Deletes an agent permanently, with its sessions and its knowledge base.'],
  ],
  audit: [
    ['list', 'listAudit', 'Lists the audit log: changes made by operators, newest first, a page at a time.'],
    ['iterate', 'listAudit', 'Yields all entries of the audit log, newest first.'],
  ],
  documents: [
    ['add', 'addDocument', 'Adds a document from a text or a URL. The service reads and indexes it in the background.'],
    [
      'replace',
      'replaceDocument',
      'Replaces a document with a text or a URL. Replies use the old content until the new content is ready.',
    ],
    ['list', 'listDocuments', 'Lists documents, newest first, a page at a time.'],
    ['iterate', 'listDocuments', 'Yields all documents, newest first.'],
    ['get', 'getDocument', 'Reads the state of a document.'],
    ['update', 'updateDocument', 'Changes the title or the metadata of a document.'],
    ['delete', 'deleteDocument', 'Deletes a document. Retrieval stops using it immediately.'],
    ['passages', 'listPassages', 'Reads the extracted text of a document, a page of passages at a time.'],
    ['iteratePassages', 'listPassages', 'Yields all passages of a document, in order.'],
    ['search', 'search', 'Finds the passages that a reply would be grounded in.'],
  ],
  insights: [['get', 'getInsights', "Reads statistics about an agent's conversations. Default period: the last 30 days."]],
  keys: [
    ['create', 'createKey', 'Creates an API key. Only this response contains its secret.'],
    ['list', 'listKeys', 'Lists keys, newest first, a page at a time.'],
    ['iterate', 'listKeys', 'Yields all keys, newest first.'],
    ['current', 'getCurrentKey', 'Reads the key that this client uses.'],
    ['roll', 'rollKey', 'Replaces a key with a new one that has the same rights. The old key works until the overlap ends.'],
    ['usage', 'getKeyUsage', 'Reads how much of its daily budget a key has used.'],
    ['delete', 'deleteKey', 'Revokes a key immediately.'],
  ],
  messages: [
    ['send', 'sendMessage', 'Sends a message and resolves to the complete answer.'],
    [
      'stream',
      'sendMessage',
      "Sends a message and yields the turn's events. Leaving the loop closes the stream; the turn continues and its reply is stored.",
    ],
    ['regenerate', 'regenerateMessage', 'Regenerates the last reply of the session and resolves to the complete answer.'],
    ['streamRegenerate', 'regenerateMessage', "Regenerates the last reply of the session and yields the turn's events."],
    ['cancel', 'cancelMessage', "Cancels the turn that answers a user's message. The text generated so far becomes the reply."],
    ['list', 'listMessages', 'Reads the history, oldest message first by default, a page at a time.'],
    ['iterate', 'listMessages', 'Yields the whole history, oldest message first by default, fetched page by page.'],
    ['get', 'getMessage', 'Reads one message and the state of its turn.'],
    ['rate', 'setFeedback', 'Sets the feedback on a reply.'],
    ['unrate', 'deleteFeedback', 'Removes the feedback on a reply.'],
    ['versions', 'listVersions', 'Lists the earlier versions of a regenerated reply, oldest first.'],
  ],
  models: [['list', 'listModels', 'Lists the models that this deployment can use.']],
  sessions: [
    ['create', 'createSession', 'Creates a session.'],
    [
      'list',
      'listSessions',
      'Lists sessions, most recent activity first. Without `limit` it returns all; with `limit`, one page and `pagination`.',
    ],
    ['iterate', 'listSessions', 'Yields all sessions, most recent activity first, fetched page by page.'],
    ['get', 'getSession', 'Reads a session with its whole history.'],
    ['update', 'updateSession', 'Renames a session.'],
    ['delete', 'deleteSession', 'Deletes a session and all its messages permanently.'],
    ['import', 'importSession', 'Imports a conversation from another system.'],
  ],
  sources: [
    ['add', 'addSource', 'Adds a source: web pages whose content the knowledge base follows.'],
    ['list', 'listSources', 'Lists sources, newest first, a page at a time.'],
    ['iterate', 'listSources', 'Yields all sources, newest first.'],
    ['get', 'getSource', 'Reads the state of a source.'],
    ['refresh', 'refreshSource', 'Updates a source now.'],
    ['delete', 'deleteSource', 'Deletes a source with its documents.'],
  ],
  tokens: [
    ['create', 'createToken', 'Creates a token for a browser. Anyone with the token can act as this one user of this one agent.'],
  ],
  users: [
    ['list', 'listUsers', 'Lists end users, ordered by id, a page at a time.'],
    ['iterate', 'listUsers', 'Yields all end users, ordered by id.'],
    [
      'export',
      'exportUser',
      'Yields all data stored about an end user, line by line. Throws if the response breaks off, because the export is then incomplete.',
    ],
    ['erase', 'eraseUser', 'Erases all data stored about an end user, immediately and permanently.'],
  ],
  webhooks: [
    ['create', 'createWebhook', 'Creates a webhook that sends events to a URL. Only this response contains the signing secret.'],
    ['list', 'listWebhooks', 'Lists webhooks, newest first, a page at a time.'],
    ['iterate', 'listWebhooks', 'Yields all webhooks, newest first.'],
    ['test', 'testWebhook', 'Sends a test event once, immediately, and resolves to the result.'],
    ['listDeliveries', 'listDeliveries', 'Lists the deliveries of a webhook, newest first, a page at a time.'],
    ['iterateDeliveries', 'listDeliveries', 'Yields all deliveries of a webhook, newest first.'],
    ['retryDelivery', 'retryDelivery', 'Delivers an event again, regardless of the earlier result.'],
    ['delete', 'deleteWebhook', 'Deletes a webhook and its pending deliveries.'],
  ],
}

/** Functions written by hand that a module exports as well, with the operations that they call. */
export const HANDWRITTEN: Record<string, { file: string; names: string[]; operations: string[] }> = {
  documents: {
    file: 'uploads.ts',
    names: ['replaceFile', 'upload', 'whenDone'],
    operations: ['uploadDocument', 'replaceDocumentWithFile'],
  },
  messages: { file: 'resume.ts', names: ['resume'], operations: ['streamMessage'] },
}

/** Returns the name by which a caller finds an operation, such as `messages.send`. */
export function callName(operationId: string): string | undefined {
  for (const [module, functions] of Object.entries(MODULES)) {
    const found = functions.find(([, id]) => id === operationId)
    if (found !== undefined) return `${module}.${found[0]}`
  }
  return undefined
}
