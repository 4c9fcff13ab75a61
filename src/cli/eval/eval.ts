import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from '../client.ts'
import { type Command, CommandError, exitCodes, jsonOption, type Terminal } from '../command.ts'
import { findAgent } from '../find-agent.ts'
import { Progress } from '../progress.ts'
import { oneLine, plural, printJson, printTable } from '../show.ts'
import { askAll, namesOfDocuments } from './ask.ts'
import { readQuestions } from './question-set.ts'
import { type EvalOutcome, type Scores, score, scoreNames } from './score.ts'

/** A stored run, with which the next one is compared. */
interface Run {
  agent: string
  model: string
  at: string
  scores: Scores
  outcomes: EvalOutcome[]
}

const QUESTION_CHARS = 90
const MAX_LISTED = 20

export const evaluate: Command = {
  name: 'eval',
  usage: '<agent> <questions.jsonl> [--min SCORE=VALUE,…] [--no-worse] [--run <file>] [--json]',
  about: 'Ask an agent a set of questions, score its replies, and compare with the last run.',
  takes: [2, 2],
  options: {
    min: { type: 'string', value: 'SCORE=VALUE,…', about: 'Fail where a score is lower, e.g. answers=0.8,refusals=0.9.' },
    'no-worse': {
      type: 'boolean',
      about: 'Fail where a question that was right in the last run is wrong now, and go on comparing with that run.',
    },
    run: {
      type: 'string',
      value: '<file>',
      about: 'Where the run is kept; beside the questions, as <questions>.run.json, if left out.',
    },
    ...jsonOption,
  },
  details: `Each line of the question set is a JSON object: "question", and what a good reply is known by: "answers" (texts, one
of which must stand in it), "documents" (titles, file names, URLs or ids that hold it) or "answerable": false. A
"history" of earlier messages and an "id" may stand there, too. Every question is asked in a session of its own,
which is deleted afterwards. The scores are ${scoreNames.join(', ')}.
For continuous integration: repartee eval shop questions.jsonl --min answers=0.8 --no-worse`,
  async run(terminal, { values, positionals: [given, path] }) {
    const questions = readQuestions(path!)
    const least = parseLeast(values.min as string | undefined)
    const file = (values.run as string | undefined) ?? `${path!.replace(/\.jsonl?$/, '')}.run.json`
    const before = readRun(file)
    const signal = terminal.interruption()
    const client = connect(terminal.env)
    const agent = await findAgent(client, given!)
    const names = await namesOfDocuments(client, agent.id)
    const progress = new Progress(terminal)
    progress.show('asking', 0, questions.length, 'questions')
    const outcomes = await askAll({ client, agentId: agent.id, names, signal }, questions, (done) =>
      progress.show('asking', done, questions.length, 'questions'),
    )
    progress.end()
    const run: Run = {
      agent: agent.name,
      model: agent.model,
      at: new Date().toISOString(),
      scores: score(questions, outcomes),
      outcomes,
    }
    const changes = compare(before, run)
    const missed = Object.entries(least).filter(([name, value]) => (run.scores[name as keyof Scores] ?? 1) < value)
    const isWorse = values['no-worse'] === true && changes.worse.length > 0
    // A worse run must not become the baseline.
    if (!isWorse) writeFileSync(file, `${JSON.stringify(run, null, 1)}\n`)
    if (values.json) printJson(terminal, { ...run, before: before?.scores ?? null, ...changes })
    else {
      report(terminal, run, before, changes)
      if (!isWorse) terminal.out(`The run is kept in ${file}.`)
    }
    for (const [name, value] of missed)
      terminal.err(`${name} is ${show(run.scores[name as keyof Scores])}, and should be ${value} or more.`)
    if (isWorse)
      terminal.err(`${plural(changes.worse.length, 'question')} right before, and wrong now. ${file} still holds the run before.`)
    return missed.length > 0 || isWorse || outcomes.some(({ failure }) => failure !== undefined) ? exitCodes.failed : exitCodes.ok
  },
}

interface Changes {
  /** Questions that were wrong in the previous run and are right now; `worse` is the reverse. */
  better: EvalOutcome[]
  worse: EvalOutcome[]
}

function compare(before: Run | undefined, { outcomes }: Run): Changes {
  const wasRight = new Map(before?.outcomes.map(({ id, question, isRight }) => [`${id}\0${question}`, isRight]))
  const changed = (from: boolean) =>
    outcomes.filter(({ id, question, isRight }) => wasRight.get(`${id}\0${question}`) === from && isRight === !from)
  return { better: changed(false), worse: changed(true) }
}

function report(terminal: Terminal, { scores, outcomes }: Run, before: Run | undefined, { better, worse }: Changes): void {
  const told = scoreNames.filter((name) => scores[name] !== null)
  const rows = told.map((name) => [
    name,
    show(scores[name]),
    ...(before === undefined ? [] : [difference(scores[name], before.scores[name])]),
  ])
  printTable(
    terminal,
    ['score', 'now', ...(before === undefined ? [] : ['before'])],
    rows,
    'No question tells what a good reply is.',
  )
  const judged = outcomes.filter(({ isRight }) => isRight !== undefined)
  terminal.out(
    `\n${plural(outcomes.length, 'question')}: ${judged.filter(({ isRight }) => isRight).length} of ${judged.length} right.`,
  )
  list(
    terminal,
    'Could not be asked',
    outcomes.filter(({ failure }) => failure !== undefined),
  )
  list(terminal, 'Right before, and wrong now', worse)
  list(terminal, 'Wrong before, and right now', better)
  if (before === undefined)
    list(
      terminal,
      'Wrong',
      judged.filter(({ isRight }) => !isRight),
    )
}

function list(terminal: Terminal, title: string, outcomes: readonly EvalOutcome[]): void {
  if (outcomes.length === 0) return
  const lines = outcomes
    .slice(0, MAX_LISTED)
    .map(
      ({ id, question, reply, failure }) =>
        `  ${id}  ${oneLine(question, QUESTION_CHARS)}\n      ${oneLine(failure ?? reply, QUESTION_CHARS)}`,
    )
  const more = outcomes.length > MAX_LISTED ? [`  and ${outcomes.length - MAX_LISTED} more`] : []
  terminal.out([`\n${title}:`, ...lines, ...more].join('\n'))
}

const show = (value: number | null | undefined): string => (value === null || value === undefined ? '–' : value.toFixed(3))

function difference(now: number | null, before: number | null | undefined): string {
  if (now === null || before === null || before === undefined) return show(before)
  const change = now - before
  return `${show(before)} (${change >= 0 ? '+' : '−'}${Math.abs(change).toFixed(3)})`
}

function readRun(file: string): Run | undefined {
  if (!existsSync(file)) return undefined
  try {
    const run = JSON.parse(readFileSync(file, 'utf8')) as Run
    if (Array.isArray(run.outcomes) && typeof run.scores === 'object') return run
  } catch {}
  throw new CommandError(`${file} is there, but holds no run: remove it, or name another by --run.`)
}

function parseLeast(text: string | undefined): Record<string, number> {
  const pairs = (text ?? '').split(',').filter((part) => part.trim() !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', value = ''] = pair.split('=').map((part) => part.trim())
      if (!(scoreNames as string[]).includes(name) || value === '' || !(Number(value) >= 0 && Number(value) <= 1))
        throw new CommandError(
          `--min takes SCORE=VALUE from 0 to 1; "${pair.trim()}" is none. There are ${scoreNames.join(', ')}.`,
          exitCodes.usage,
        )
      return [name, Number(value)]
    }),
  )
}
