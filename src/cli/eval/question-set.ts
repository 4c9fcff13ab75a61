import { readFileSync } from 'node:fs'
import { CommandError } from '../command.ts'

/** A question with its expected answers and documents: one line of a question set. */
export interface EvalQuestion {
  id: string
  question: string
  /** The conversation before it, oldest first. */
  history: { role: 'USER' | 'AI'; content: string }[]
  /** A reply is right if it contains any of these texts. */
  answers: string[]
  /** Documents that contain the answer: by id, title, file name, URL, or `file` in their metadata. */
  documents: string[]
  /** False if the documents do not contain the answer, and the agent should say so. */
  answerable: boolean
}

const FIELDS = ['id', 'question', 'history', 'answers', 'documents', 'answerable']

/** Reads a question set in JSON Lines, without blank lines. Throws `CommandError` that names the line. */
export function readQuestions(path: string): EvalQuestion[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    throw new CommandError(`There is no file ${path}, or you may not read it.`)
  }
  const questions = text
    .replace(/^\ufeff/, '')
    .split('\n')
    .flatMap((line, at) => (line.trim() === '' ? [] : [parse(line, at + 1, path)]))
  if (questions.length === 0) throw new CommandError(`There are no questions in ${path}.`)
  const ids = new Set<string>()
  for (const { id } of questions) {
    if (ids.has(id)) throw new CommandError(`${path}: the id "${id}" stands there twice.`)
    ids.add(id)
  }
  return questions
}

function parse(line: string, number: number, path: string): EvalQuestion {
  const fail = (problem: string) => new CommandError(`${path}:${number}: ${problem}`)
  let value: Partial<Record<string, unknown>>
  try {
    value = JSON.parse(line)
  } catch {
    throw fail('is not valid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fail('must be a JSON object')
  const unknown = Object.keys(value).find((field) => !FIELDS.includes(field))
  if (unknown !== undefined) throw fail(`"${unknown}" is not known; there are ${FIELDS.join(', ')}`)
  const { id = String(number), question, history = [], answers = [], documents = [], answerable = true } = value
  if (typeof question !== 'string' || question.trim() === '') throw fail('"question" must be a text')
  if (typeof id !== 'string' || id === '') throw fail('"id" must be a text')
  if (typeof answerable !== 'boolean') throw fail('"answerable" must be true or false')
  if (!areTexts(answers)) throw fail('"answers" must be a list of texts')
  if (!areTexts(documents)) throw fail('"documents" must be a list of texts')
  if (!isHistory(history)) throw fail('"history" must be a list of { "role": "USER" or "AI", "content" }')
  return { id, question, history, answers, documents, answerable }
}

const areTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((item) => typeof item === 'string')

const isHistory = (value: unknown): value is EvalQuestion['history'] =>
  Array.isArray(value) &&
  value.every(
    (item) =>
      typeof item === 'object' && item !== null && /^(?:USER|AI)$/.test(String(item.role)) && typeof item.content === 'string',
  )
