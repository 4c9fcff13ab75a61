import { MAX_MS, type Setting } from './setting.ts'

/** Models and their providers. */
export const modelSettings = {
  model: {
    env: 'REPARTEE_MODEL',
    kind: 'text',
    fallback: 'extractive',
    about: 'Model of agents that name none: `extractive`, or `PROVIDER/NAME`.',
  },
  embeddingModel: {
    env: 'REPARTEE_EMBEDDING_MODEL',
    kind: 'text',
    about:
      'Embedding model of agents that search by meaning and name none. Left out: `openai/text-embedding-3-small` or `google/gemini-embedding-001`, whichever has a key.',
  },
  modelFolder: {
    env: 'REPARTEE_MODEL_FOLDER',
    kind: 'text',
    about: 'Folder with embedding models in ONNX form, each in a folder of its own, for names like `local/NAME`.',
  },
  embeddingTimeoutMs: {
    env: 'REPARTEE_EMBEDDING_TIMEOUT_MS',
    kind: 'integer',
    fallback: 3_000,
    min: 1,
    max: MAX_MS,
    about: 'How long embedding a question may take; then it is searched by words alone.',
  },
  rerankUrl: {
    env: 'REPARTEE_RERANK_URL',
    kind: 'text',
    form: 'url',
    about:
      'Address of a reranking model, as Cohere, Jina, Voyage and compatible servers have it, e.g. `https://api.jina.ai/v1/rerank`, for agents with `retrieval.rerank`. Left out: the language model of the agent does it.',
  },
  rerankModel: {
    env: 'REPARTEE_RERANK_MODEL',
    kind: 'text',
    about: 'Name of the reranking model, where its server has several.',
  },
  rerankApiKey: { env: 'REPARTEE_RERANK_API_KEY', kind: 'secret', form: 'key', about: 'Key for the reranking model.' },
  modelTimeoutMs: {
    env: 'REPARTEE_MODEL_TIMEOUT_MS',
    kind: 'integer',
    fallback: 60_000,
    min: 1,
    max: MAX_MS,
    about: 'How long a model may be silent: to its first token, and between two.',
  },
  openaiApiKey: { env: 'OPENAI_API_KEY', kind: 'secret', form: 'key', about: 'Key for models named `openai/…`.' },
  openaiBaseUrl: {
    env: 'OPENAI_BASE_URL',
    kind: 'text',
    form: 'url',
    about: 'Address for models named `openai/…`, where it is not that of OpenAI, e.g. `http://localhost:8000/v1`.',
  },
  openaiProtocol: {
    env: 'REPARTEE_OPENAI_PROTOCOL',
    kind: 'text',
    fallback: 'chat',
    about: 'How models named `openai/…` are spoken to: `chat` (chat completions) or `responses`.',
  },
  anthropicApiKey: { env: 'ANTHROPIC_API_KEY', kind: 'secret', form: 'key', about: 'Key for models named `anthropic/…`.' },
  anthropicBaseUrl: {
    env: 'ANTHROPIC_BASE_URL',
    kind: 'text',
    form: 'url',
    about: 'Address for models named `anthropic/…`, where it is not that of Anthropic; with or without `/v1` at its end.',
  },
  googleApiKey: { env: 'GOOGLE_GENERATIVE_AI_API_KEY', kind: 'secret', form: 'key', about: 'Key for models named `google/…`.' },
  geminiApiKey: {
    env: 'GEMINI_API_KEY',
    kind: 'secret',
    form: 'key',
    about: 'The same, where `GOOGLE_GENERATIVE_AI_API_KEY` is not set.',
  },
  googleBaseUrl: {
    env: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    kind: 'text',
    form: 'url',
    about: 'Address for models named `google/…`, where it is not that of Google.',
  },
  ollamaHost: {
    env: 'OLLAMA_HOST',
    kind: 'text',
    about: 'Where Ollama is, for models named `ollama/…`: a host, `host:port` or a URL, e.g. `localhost`.',
  },
  ollamaContextTokens: {
    env: 'REPARTEE_OLLAMA_CONTEXT_TOKENS',
    kind: 'integer',
    fallback: 32_768,
    min: 8_192,
    max: 1_048_576,
    about: 'Largest context window of a model on Ollama. A longer prompt fails.',
  },
  providers: {
    env: 'REPARTEE_PROVIDERS',
    kind: 'providers',
    about: 'Further providers by name, as JSON; see [compatible providers](providers/compatible.md).',
  },
} as const satisfies Record<string, Setting>
