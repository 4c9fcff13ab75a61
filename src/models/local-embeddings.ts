import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { EmbeddingModel } from '../core/ports/embedding.ts'
import { UnusableModel } from '../core/ports/model.ts'
import { checkedVectors } from './embeddings.ts'
import { failed, stopped } from './transport/failure.ts'

/** Not a dependency: with its native parts it takes half a gigabyte, and one of them downloads more during installation. */
const PACKAGE = '@huggingface/transformers'
/** Few, because tokenizing texts blocks the service. */
const MAX_TEXTS = 4
const FILES: [file: string, dtype: string][] = [
  ['model.onnx', 'fp32'],
  ['model_quantized.onnx', 'q8'],
  ['model_fp16.onnx', 'fp16'],
]

/** The part of the package that is used here. */
interface Transformers {
  env: Record<string, unknown>
  pipeline: (task: string, model: string, options: object) => Promise<Extractor>
}
type Extractor = (texts: string[], options: object) => Promise<{ tolist(): number[][] }>

/** Opens an ONNX model from the operator's folder and runs it in this process. Throws `UnusableModel`. */
export function localEmbeddings(name: string, folder: string | undefined): EmbeddingModel {
  const id = `local/${name}`
  if (folder === undefined) throw new UnusableModel(`is ${id}, but REPARTEE_MODEL_FOLDER is not set`)
  if (!/^[\w.-]+$/.test(name) || name.startsWith('.')) throw new UnusableModel(`is ${id}, which is no name of a folder`)
  const path = join(resolve(folder), name)
  const found = FILES.find(([file]) => existsSync(join(path, 'onnx', file)))
  if (found === undefined)
    throw new UnusableModel(`is ${id}, but there is no onnx/model.onnx in that folder of REPARTEE_MODEL_FOLDER`)
  try {
    import.meta.resolve(PACKAGE)
  } catch {
    throw new UnusableModel(`is ${id}, but the package ${PACKAGE} is not installed: npm install --ignore-scripts ${PACKAGE}`)
  }
  const pooling = poolingOf(path)
  const prompts = promptsOf(path)
  let loading: Promise<Extractor> | undefined
  return {
    maxTexts: MAX_TEXTS,
    async embed(texts, { purpose, signal }) {
      loading ??= load(resolve(folder), name, found[1])
      const extract = await loading.catch((cause: unknown) => {
        loading = undefined
        throw failed(`the model ${id} cannot be loaded`, { cause })
      })
      if (signal.aborted) throw stopped(signal)
      // The model cannot be stopped, but the caller need not wait for it.
      const { promise: aborted, reject } = Promise.withResolvers<never>()
      const stop = () => reject(stopped(signal))
      signal.addEventListener('abort', stop)
      const extracted = extract(
        texts.map((text) => prompts[purpose] + text),
        { pooling, normalize: true },
      ).catch((cause: unknown) => {
        throw failed(`the model ${id} broke`, { cause })
      })
      const answer = await Promise.race([extracted, aborted]).finally(() => signal.removeEventListener('abort', stop))
      return checkedVectors(answer.tolist(), texts.length)
    },
  }
}

async function load(folder: string, name: string, dtype: string): Promise<Extractor> {
  const { env, pipeline } = (await import(PACKAGE)) as Transformers
  // No downloads, and no files written next to the model.
  Object.assign(env, { allowRemoteModels: false, allowLocalModels: true, localModelPath: `${folder}/`, useFSCache: false })
  return pipeline('feature-extraction', name, { dtype, device: 'cpu', session_options: { intraOpNumThreads: 1 } })
}

/** Returns how token vectors are combined, from the sentence-transformers file next to the model. */
function poolingOf(path: string): 'mean' | 'cls' {
  return readJson(join(path, '1_Pooling', 'config.json'))['pooling_mode_cls_token'] === true ? 'cls' : 'mean'
}

/** Returns the prefixes by which some models distinguish questions from passages. */
function promptsOf(path: string): { passage: string; question: string } {
  const { prompts } = readJson(join(path, 'config_sentence_transformers.json'))
  const given = (typeof prompts === 'object' && prompts !== null ? prompts : {}) as Record<string, unknown>
  const text = (...names: string[]) => String(names.map((name) => given[name]).find((prompt) => typeof prompt === 'string') ?? '')
  return { passage: text('passage', 'document'), question: text('query', 'question') }
}

function readJson(path: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  } catch {
    return {}
  }
}
