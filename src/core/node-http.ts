// An `import` of node:http reads everything that it exports, and with its WebSocket the whole of undici comes along: 13 MB, and a tenth of a start.
export const { request: httpRequest, STATUS_CODES } = process.getBuiltinModule('node:http')
export const { request: httpsRequest } = process.getBuiltinModule('node:https')
