import { readFileSync, writeFileSync } from 'node:fs'
import { growthPlot, performancePage, searchPlot } from '../bench/performance-page.ts'
import { contract } from '../src/api/contract.ts'
import { toOpenApi } from '../src/api/openapi.ts'
import { loadConfig } from '../src/config/config.ts'
import { type Setting, type SettingName, settings } from '../src/config/settings.ts'
import { type ErrorCode, errorCodes } from '../src/core/errors.ts'
import { statusOf } from '../src/http/route/errors.ts'
import { clientFiles } from './generate-client.ts'
import { scatter } from './scatter.ts'

/** The meaning of each code, and what to do about it. Complete sentences, because the sample agent quotes them. */
const explained: Record<ErrorCode, string> = {
  invalid_request:
    'The error `invalid_request` means that the request is malformed: no valid JSON, or a field that is missing, unknown, of the wrong type or out of range. `details` names every place at fault; change the request before sending it again.',
  invalid_cursor:
    'The error `invalid_cursor` means that the cursor is not one of this list. Start again from the first page, without `cursor`.',
  unauthorized:
    'The error `unauthorized` means that the key is missing, mistyped, unknown, revoked or expired, that its header was sent twice, or that two different credentials were sent. Send one valid key in the header `X-API-Key`.',
  forbidden:
    'The error `forbidden` means that the key is good but may not do this: it lacks the scope, or the key that should be changed is the one that `REPARTEE_ADMIN_KEY` sets. Use a key with the scope that the operation needs.',
  route_not_found:
    'The error `route_not_found` means that there is no such path. Check the spelling, and that the path begins with `/v1`.',
  agent_not_found:
    'The error `agent_not_found` means that there is no such agent, or that the key may not see it. Check the id in the path and the agents that the key is bound to.',
  session_not_found:
    'The error `session_not_found` means that the agent has no such session: it never was, it belongs to another agent, or it was deleted. Create a new session.',
  message_not_found:
    'The error `message_not_found` means that the session has no such message: it never was, or it belongs to another session.',
  document_not_found:
    'The error `document_not_found` means that the agent has no such document: it never was, it belongs to another agent, or it was removed.',
  source_not_found:
    'The error `source_not_found` means that the agent has no such source: it never was, it belongs to another agent, or it was removed.',
  key_not_found: 'The error `key_not_found` means that there is no such key, or that it was revoked already.',
  webhook_not_found: 'The error `webhook_not_found` means that there is no such webhook, or that it was deleted already.',
  delivery_not_found:
    'The error `delivery_not_found` means that the webhook has no such delivery: it never was, it was kept long enough, or the session that it told of was deleted.',
  user_not_found: 'The error `user_not_found` means that the agent has no session of such a user.',
  method_not_allowed:
    'The error `method_not_allowed` means that the path exists but does not take this method. The header `Allow` lists the methods that it takes.',
  request_timeout:
    'The error `request_timeout` means that the request took too long to arrive, and the connection is closed. Send it again, faster.',
  session_busy:
    'The error `session_busy` means that too many messages wait for their turn in this session, or that this one has waited too long. Nothing was stored; send the message again after the seconds in `Retry-After`.',
  request_in_progress:
    'The error `request_in_progress` means that the request with this `Idempotency-Key` is still being worked on. Send it again after the seconds in `Retry-After`; it is then answered with what the first one came to.',
  turn_cancelled:
    'The error `turn_cancelled` means that the turn was cancelled before the model had said anything. The message stays in the history without a reply; the same text sent again is a new message. A reply that was being made anew stays as it was.',
  payload_too_large:
    'The error `payload_too_large` means that the body is larger than this request may have. Send less, or raise `REPARTEE_MAX_BODY_BYTES` or, for documents, `REPARTEE_MAX_UPLOAD_BYTES`.',
  unsupported_media_type:
    'The error `unsupported_media_type` means that the body was not sent as `Content-Type: application/json`, or was sent with a `Content-Encoding`. File uploads are sent as `multipart/form-data`.',
  idempotency_mismatch:
    'The error `idempotency_mismatch` means that the `Idempotency-Key` was used before with another request. Use a new key for every new request, and the same key only to repeat one.',
  rate_limited:
    'The error `rate_limited` means that this key made more requests in a minute, or this end user sent more messages, than they may; or that too many keys that are no good came from one address. Nothing was stored; send the request again after the seconds in `Retry-After`. The headers `RateLimit` and `RateLimit-Policy` of every answer tell how much is left.',
  quota_exceeded:
    'The error `quota_exceeded` means that the budget of the day of the agent, of this end user or of this key is used up, or is set aside for replies that are being made. Send the message again after the seconds in `Retry-After`: the day begins at midnight UTC. Where `details` names a stored message, the same text continues it.',
  headers_too_large:
    'The error `headers_too_large` means that the headers of the request exceed 16 KiB. Send fewer or shorter ones.',
  internal_error:
    'The error `internal_error` is a defect of Repartee. The log holds the cause under the `requestId` of the answer; please report it.',
  model_failed:
    'The error `model_failed` means that the model refused or broke, and its fallbacks too. The message is stored, and `details` names it: the same text, sent as the next message, continues it. A reply that was being made anew stays as it was.',
  model_timeout:
    'The error `model_timeout` means that the model did not answer in time. The message is stored, and `details` names it: the same text, sent as the next message, continues it. A reply that was being made anew stays as it was.',
  unavailable:
    'The error `unavailable` means that the service is starting or stopping, that its data is out of reach for the moment, or that a turn was held up for so long, or cut off by a crash, that it counts as failed. Send the request again after the seconds in `Retry-After`.',
}

interface Group {
  title: string
  intro: string
  names: SettingName[]
}

/** The sections of the configuration page. Every setting must be in exactly one group. */
const groups: Group[] = [
  {
    title: 'How do I change the port or the address?',
    intro: 'The port is changed with `REPARTEE_PORT`, the address with `REPARTEE_HOST`.',
    names: ['port', 'host', 'publicUrl', 'trustProxy'],
  },
  {
    title: 'How do I choose the data folder, the admin key and whether there is a sample?',
    intro: 'The data folder is chosen with `REPARTEE_DATA`.',
    names: ['data', 'adminKey', 'sample'],
  },
  {
    title: 'How do I keep conversations in PostgreSQL?',
    intro:
      'Conversations are kept in PostgreSQL with `REPARTEE_DATABASE_URL`; [operations](operations.md) tells what that means.',
    names: ['databaseUrl', 'databaseConnections', 'databasePooler', 'pgvectorFrom'],
  },
  {
    title: 'How do I let web pages call with tokens?',
    intro: 'Web pages may call with tokens of users once their origins are named; [keys](keys.md) tells how tokens are made.',
    names: ['allowedOrigins', 'tokenSecret'],
  },
  {
    title: 'How do I limit how many requests come in?',
    intro: 'Requests are limited for each API key, each end user and each address.',
    names: ['rateLimit', 'keyRequestsPerMinute', 'userSendsPerMinute', 'badKeysPerMinute'],
  },
  {
    title: 'How do I make the log more or less detailed?',
    intro: 'The log is made more or less detailed with `REPARTEE_LOG_LEVEL`.',
    names: ['logLevel'],
  },
  {
    title: 'How do I configure models?',
    intro: 'Models are configured by the address and the key of their provider.',
    names: [
      'model',
      'modelTimeoutMs',
      'openaiApiKey',
      'openaiBaseUrl',
      'openaiProtocol',
      'anthropicApiKey',
      'anthropicBaseUrl',
      'googleApiKey',
      'geminiApiKey',
      'googleBaseUrl',
      'ollamaHost',
      'ollamaContextTokens',
      'providers',
    ],
  },
  {
    title: 'How do I change the limits of a request?',
    intro: 'Each limit of a request is a setting.',
    names: ['maxBodyBytes', 'maxUploadBytes', 'maxMessageChars', 'maxContextChars', 'maxNameChars'],
  },
  {
    title: 'How do I change how long things may take?',
    intro: 'Waiting, a turn and stopping have a time each.',
    names: [
      'maxDelayMs',
      'maxConnections',
      'uploadsAtOnce',
      'heldBytes',
      'maxWaitingSends',
      'maxWaitMs',
      'turnTimeoutMs',
      'leaseMs',
      'keepAnswersMs',
      'keepTraces',
      'auditDays',
      'leaveMs',
      'drainMs',
    ],
  },
  {
    title: 'How do I set how often webhooks are tried again?',
    intro: 'How often and how long deliveries to webhooks are tried again is set with `REPARTEE_WEBHOOK_RETRY_SECONDS`.',
    names: ['webhookTimeoutMs', 'webhookRetrySeconds', 'webhookDays'],
  },
  {
    title: 'How do I set retries, the breaker and the limits of model calls?',
    intro: 'Retries, the breaker and the limits of model calls are settings.',
    names: [
      'modelRetries',
      'modelConcurrency',
      'maxReplyChars',
      'sideCallTimeoutMs',
      'breaker',
      'breakerFailures',
      'breakerPauseMs',
    ],
  },
  {
    title: 'How do I set the embedding model?',
    intro: 'The embedding model of agents that search by meaning is a setting, where they name none themselves.',
    names: ['embeddingModel', 'embeddingTimeoutMs', 'modelFolder'],
  },
  {
    title: 'How do I set a reranking model?',
    intro: 'A reranking model puts the passages found in a better order, for agents that ask for it.',
    names: ['rerankUrl', 'rerankModel', 'rerankApiKey'],
  },
  {
    title: 'How do I change what goes into a prompt?',
    intro: 'What goes into a prompt is bounded by tokens, for the earlier messages and for the passages.',
    names: ['historyTokens', 'passageTokens', 'queryRewriting'],
  },
  {
    title: 'How do I change how pages of the web are fetched?',
    intro: 'Pages of the web are fetched from the public internet alone, within limits.',
    names: ['fetchAllow', 'fetchTimeoutMs', 'crawlDelayMs', 'siteTurnMs'],
  },
  {
    title: 'How do I change what reading a document may take?',
    intro: 'Reading a document may take so much time and memory; what takes more fails.',
    names: ['readTimeoutMs', 'readMemoryMb'],
  },
  {
    title: 'How do I change how streams are kept open?',
    intro: 'Streams are kept open by comments, and readers that do not read are cut off.',
    names: ['heartbeatMs', 'streamStallMs', 'listReadMs'],
  },
  {
    title: 'How do I send traces to a collector?',
    intro:
      'Traces are sent to a collector by the variables that OpenTelemetry has for it; [monitoring](monitoring.md) tells what they hold.',
    names: [
      'otlpEndpoint',
      'otlpTracesEndpoint',
      'otlpHeaders',
      'otlpTimeoutMs',
      'otelEveryMs',
      'otelServiceName',
      'otelResourceAttributes',
      'otelSampler',
      'otelSamplerArgument',
      'otelCapture',
      'otelDisabled',
    ],
  },
  {
    title: 'How do I tell Repartee what models cost?',
    intro: 'What models cost is told in a file; [models](models.md) shows one.',
    names: ['prices'],
  },
]

const GENERATED = '<!-- Made by `npm run docs`: change scripts/generate-docs.ts or the table that it reads, not this page. -->'

const kinds: Record<Setting['kind'], string> = {
  text: 'text',
  integer: 'whole number',
  switch: '`on` or `off`',
  secret: 'secret',
  providers: 'JSON object',
}

function toItem(name: SettingName): string {
  const { env, kind, fallback, min, max, about }: Setting = settings[name]
  const range = kind !== 'integer' ? '' : max === undefined ? ` from ${min ?? 0}` : ` from ${min ?? 0} to ${max}`
  const shown = typeof fallback === 'boolean' ? (fallback ? 'on' : 'off') : fallback
  const standard = shown === undefined ? 'not set by default' : `default \`${shown}\``
  const alias = kind === 'secret' ? `; or \`${env}_FILE\`` : ''
  return `- \`${env}\` (${kinds[kind]}${range}; ${standard}${alias}; in the file \`${name}\`): ${about}`
}

/** Returns the page of all settings, from `src/config/settings.ts`. */
export function configurationPage(): string {
  const told = groups.flatMap(({ names }) => names)
  const missing = Object.keys(settings).filter((name) => told.filter((n) => n === name).length !== 1)
  if (missing.length > 0)
    throw new Error(`settings that are not in exactly one of \`groups\` in scripts/generate-docs.ts: ${missing.join(', ')}`)
  return `${GENERATED}

# Configuration

Repartee is configured by environment variables, which are read once, at the start. Every setting has a default, so that Repartee starts without any. A setting that cannot be understood stops the start with a message that names every problem at once and never a value.

\`\`\`console
$ REPARTEE_PORT=9000 REPARTEE_DATA=/var/lib/repartee npm start
\`\`\`

## How do I use a configuration file?

A configuration file is used by setting \`REPARTEE_CONFIG\` to its path. The file is JSON; it names settings in camel case without the prefix \`REPARTEE_\`, as given below for each. The environment wins over the file, and the file wins over the defaults. A name that is not a setting stops the start.

\`\`\`console
$ cat repartee.json
{ "port": 9000, "data": "/var/lib/repartee", "sample": false }
$ REPARTEE_CONFIG=repartee.json npm start
\`\`\`

## How do I keep secrets out of the environment?

A secret is kept out of the environment by putting it into a file of its own and naming that file in the variable with \`_FILE\` behind its name: \`REPARTEE_ADMIN_KEY_FILE\`, \`OPENAI_API_KEY_FILE\`. White space around the secret is ignored.

${groups.map(({ title, intro, names }) => `## ${title}\n\n${intro}\n\n${names.map(toItem).join('\n')}\n`).join('\n')}`
}

/** Returns the page of all error codes, from `src/core/errors.ts` and `src/http/route/errors.ts`. */
export function errorsPage(): string {
  const sorted = [...errorCodes].sort((a, b) => statusOf[a] - statusOf[b])
  return `${GENERATED}

# Errors

Every answer that is not a success is a JSON object with \`success: false\` and \`error\`. \`error.code\` is for programs and never changes its meaning; \`error.message\` is for people; \`error.details\`, where present, names the places of the request at fault; \`error.requestId\` finds the log line. The example uses the variables that the [quick start](quick-start.md) sets.

\`\`\`sh
curl -s $BASE/agents/$AGENT/sessions/$SESSION/messages -H "X-API-Key: $KEY" -H "Content-Type: application/json" -d '{}'
\`\`\`

\`\`\`json
{
  "success": false,
  "error": {
    "code": "invalid_request",
    "message": "body.message is required",
    "requestId": "01a1fb88-8293-74a5-8fb1-2c3d4e5f6071",
    "details": [{ "path": "body.message", "message": "is required" }]
  }
}
\`\`\`

## Which errors are worth sending again?

Errors with the header \`Retry-After\` are worth sending again after that many seconds: \`rate_limited\`, \`session_busy\`, \`request_in_progress\`, \`unavailable\`, and \`model_failed\` where the provider, or the rest that it is given, asks for a wait. \`model_failed\` and \`model_timeout\` are sent again unchanged, as the next message, which continues the stored one; where the provider refused the request for good, that helps only once the agent or the provider is set right. An error that comes on a stream has no header. Other errors below 500 stay until the request is changed.

## In which order are requests checked?

Requests are checked in this order: route, key, path and query, scope, existence, media type, size, body. The first check that fails decides the answer.

${sorted.map((code) => `## ${statusOf[code]} ${code}\n\n${explained[code]}\n`).join('\n')}`
}

/** Returns the contract with its default limits, as OpenAPI. */
export function openApiFile(): string {
  return `${JSON.stringify(openApi(), undefined, 2)}\n`
}

const openApi = () => toOpenApi(contract(loadConfig({})), '/v1')

/** Plots the table of docs/cost.md (tokens and evidence in the prompt): one row per system, two columns per collection. */
export function costPlot(): string {
  const page = readFileSync(new URL('../docs/cost.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| ([^|]+) \|((?: \d\.\d+ \| [\d,]+ \|){4})$/gm)].map(([, system, rest]) => ({
    system: system!,
    figures: rest!.split('|').map((cell) => Number(cell.replaceAll(',', ''))),
  }))
  const clouds = ['Conversations on manuals', 'Follow-up questions', 'Single questions', 'Product documentation'].map(
    (title, i) => {
      const points = rows.map(({ system, figures }) => ({ label: system, x: figures[2 * i + 1]!, y: figures[2 * i]! }))
      const isOwn = ({ label }: { label: string }) => label.startsWith('Repartee')
      return { title, line: points.filter(isOwn), points: points.filter((point) => !isOwn(point)) }
    },
  )
  const title = 'Share of what answers that is inside the prompt, by the tokens of a message'
  return scatter(title, 'tokens a message', 'Repartee with 1 to 20 passages', clouds)
}

/** The generated files and their content, by path from the project root. */
export const generated: Record<string, () => string> = {
  'docs/configuration.md': configurationPage,
  'docs/errors.md': errorsPage,
  'docs/openapi.json': openApiFile,
  'docs/performance.md': performancePage,
  'docs/images/search.svg': searchPlot,
  'docs/images/growth.svg': growthPlot,
  'docs/images/cost.svg': costPlot,
  // Goes through the OpenAPI text, because schema objects contain more than JSON.
  ...clientFiles(JSON.parse(openApiFile())),
}

if (import.meta.main) {
  for (const [path, make] of Object.entries(generated)) {
    writeFileSync(new URL(`../${path}`, import.meta.url), make())
    console.log(`written: ${path}`)
  }
}
