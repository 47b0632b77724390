// A server with the official TypeScript SDK that asks people: over HTTP for the tests, over stdio when it is run.
// `tools.json` says which tool asks what, `questions.json` the questions. A tool answers with all that it was told, as JSON.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as sdk from '@modelcontextprotocol/server';
import * as node from '@modelcontextprotocol/node';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { startSdkServer } from '../../support/sdk-server.mjs';

const { McpServer, UrlElicitationRequiredError, createRequestStateCodec, fromJsonSchema, inputRequired } = sdk;

export const load = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
const QUESTIONS = load('questions.json');
const TOOLS = load('tools.json');

const states = createRequestStateCodec({ key: 'only this server can make its states' });
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const inputSchema = fromJsonSchema({ type: 'object', properties: { id: { type: 'string' } } });

/** What is kept of an answer: what the person did, and what they wrote. */
const told = ({ action, content }) => (content ? { action, content } : { action });

/** What is still to be asked when `known` was answered; nothing after somebody declined or dismissed a question. */
function open(rounds, known) {
  for (const round of rounds) {
    const missing = round.filter((key) => !known[key]);
    if (missing.length > 0) return missing;
    if (round.some((key) => known[key].action !== 'accept')) return [];
  }
  return [];
}

/** The modern era: a round of questions is a result, and the retry begins anew with what the state remembers. */
async function askByRounds(rounds, request) {
  const known = { ...request.requestState() };
  for (const [key, answer] of Object.entries(request.inputResponses ?? {})) known[key] = told(answer);
  const missing = open(rounds, known);
  if (missing.length === 0) return text(known);
  const inputRequests = {};
  for (const key of missing) {
    const question = QUESTIONS[key];
    inputRequests[key] = question.url ? inputRequired.elicitUrl(question) : inputRequired.elicit(question);
  }
  return inputRequired({ inputRequests, requestState: await states.mint(known) });
}

/** The legacy era: the call waits, and questions of one round are under way together. */
async function askOnTheStream(rounds, request, id) {
  const known = {};
  for (let missing = open(rounds, known); missing.length > 0; missing = open(rounds, known)) {
    await Promise.all(missing.map(async (key) => (known[key] = told(await askOne(QUESTIONS[key], request, id)))));
  }
  return text(known);
}

async function askOne(question, request, elicitationId) {
  const kind = question.url ? { mode: 'url', elicitationId } : { mode: 'form' };
  // On the stream of the call, where a question about it belongs; the shorthand of the SDK takes the GET stream.
  const answer = await request.send({ method: 'elicitation/create', params: { ...kind, ...question } });
  if (!question.url) return answer;
  // The payment is done at once in this server.
  const params = { elicitationId };
  if (answer.action === 'accept') await request.notify({ method: 'notifications/elicitation/complete', params });
  return answer;
}

function make({ era }) {
  const server = new McpServer({ name: 'asking', version: '1.0.0' }, { requestState: { verify: states.verify } });
  for (const [name, rounds] of Object.entries(TOOLS)) {
    server.registerTool(name, { description: `Asks: ${rounds.join(', then ')}.`, inputSchema }, ({ id }, { mcpReq }) =>
      era === 'modern' ? askByRounds(rounds, mcpReq) : askOnTheStream(rounds, mcpReq, id),
    );
  }
  if (era === 'legacy') {
    server.registerTool('locked', { description: 'Wants a visit before the call.', inputSchema }, ({ id }) => {
      throw new UrlElicitationRequiredError([{ mode: 'url', elicitationId: id, ...QUESTIONS.visit }]);
    });
  }
  return server;
}

/** How it is run over stdio. */
export const SERVER = [process.execPath, fileURLToPath(import.meta.url)];

/** Starts it at a free port of loopback. */
export const startAsking = () => startSdkServer({ ...sdk, ...node }, make);

if (process.argv[1] === SERVER[1]) serveStdio(make);
