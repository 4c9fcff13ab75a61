import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { UnusableModel } from '../../src/core/ports/model.ts'
import { localEmbeddings } from '../../src/models/local-embeddings.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-models-'))
after(() => rmSync(folder, { recursive: true }))
const refused = (name: string, from: string | undefined, reason: RegExp) =>
  assert.throws(
    () => localEmbeddings(name, from),
    (error) => error instanceof UnusableModel && reason.test(error.why),
  )

describe('a local embedding model', () => {
  test('that is not there is refused by what is missing', () => {
    refused('tiny', undefined, /REPARTEE_MODEL_FOLDER is not set/)
    refused('tiny', folder, /no onnx\/model\.onnx/)
    for (const name of ['../tiny', 'a/b', '..', '.hidden']) refused(name, folder, /no name of a folder/)
  })

  test('names the package that it needs, which is not among ours', () => {
    mkdirSync(join(folder, 'tiny', 'onnx'), { recursive: true })
    writeFileSync(join(folder, 'tiny', 'onnx', 'model.onnx'), '')
    refused('tiny', folder, /npm install --ignore-scripts @huggingface\/transformers/)
  })
})
