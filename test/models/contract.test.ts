import { after, before } from 'node:test'
import { chatCompletionsModel } from '../../src/models/chat-completions.ts'
import { ollamaModel } from '../../src/models/ollama.ts'
import type { Provider } from '../../src/models/provider.ts'
import { vendorModel } from '../../src/models/vendor-model.ts'
import { modelContract } from '../contract/model.ts'
import { ModelServer } from '../support/model-server.ts'

const server = new ModelServer()
let baseUrl: string
before(async () => {
  baseUrl = await server.listen()
})
after(() => server.close())

const provider = <P extends Provider['protocol']>(protocol: P): Provider & { protocol: P } => ({
  name: 'some',
  protocol,
  baseUrl,
  apiKey: 'sk-test',
  headers: {},
})

modelContract(() => server, { name: 'OpenAI chat completions', open: () => chatCompletionsModel('gpt', provider('chat')) })
modelContract(() => server, { name: 'OpenAI responses', open: () => vendorModel('gpt-4.1', provider('responses')) })
modelContract(() => server, { name: 'Anthropic', open: () => vendorModel('claude-sonnet-4-5', provider('anthropic')) })
modelContract(() => server, { name: 'Google', open: () => vendorModel('gemini-2.5-flash', provider('google')) })
modelContract(() => server, {
  name: 'Ollama',
  open: () => ollamaModel('llama', provider('ollama')),
  countsCached: false,
  filters: false,
})
