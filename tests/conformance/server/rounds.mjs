// Tools of the modern era that ask by rounds.

import {
  CLIENT_CAPABILITIES_META_KEY,
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
} from '@modelcontextprotocol/server';
import { NOTHING, text } from './content.mjs';

/** What the state of a round is signed with. */
export const states = createRequestStateCodec({ key: 'a conforming server has a key of its own' });

const elicit = (message, property, type = 'string') =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [property]: { type } }, required: [property] },
  });
const sample = (question, maxTokens) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: question } }], maxTokens });

const NAME = elicit('What is your name?', 'name');
const CAPITAL = sample('What is the capital of France?', 100);
const CONFIRM = elicit('Please confirm', 'ok', 'boolean');

export function registerRounds(server) {
  const tool = (name, description, run) =>
    server.registerTool(`test_${name}`, { description, inputSchema: NOTHING }, (_, context) => run(context.mcpReq));
  const round = (name, description, run) => tool(`input_required_result_${name}`, description, run);

  const greet = ({ inputResponses }) => {
    const answer = acceptedContent(inputResponses, 'user_name');
    if (typeof answer?.name === 'string') return text(`Hello, ${answer.name}!`);
    return inputRequired({ inputRequests: { user_name: NAME } });
  };
  round('elicitation', 'Asks for a name.', greet);
  tool('streaming_elicitation', 'Asks for a name.', greet);
  round('sampling', 'Asks the model of the client.', ({ inputResponses }) => {
    const answer = inputResponses?.capital_question;
    return answer ? text(answer.content.text) : inputRequired({ inputRequests: { capital_question: CAPITAL } });
  });
  round('list_roots', 'Asks for the roots.', ({ inputResponses }) => {
    const roots = inputResponses?.client_roots?.roots;
    if (roots) return text(roots.map(({ uri }) => uri).join('\n'));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  for (const name of ['request_state', 'tampered_state']) {
    round(name, 'Asks, and wants its state back.', async (request) => {
      if (request.requestState()?.asked === name && request.inputResponses?.confirm) return text('state-ok');
      return inputRequired({ inputRequests: { confirm: CONFIRM }, requestState: await states.mint({ asked: name }) });
    });
  }
  round('multiple_inputs', 'Asks three things at once.', async (request) => {
    const inputRequests = {
      user_name: NAME,
      greeting: sample('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    };
    const answers = request.inputResponses ?? {};
    if (Object.keys(inputRequests).every((key) => key in answers)) return text(JSON.stringify(answers));
    return inputRequired({ inputRequests, requestState: await states.mint({ asked: 'three' }) });
  });
  round('multi_round', 'Asks twice, one after the other.', async (request) => {
    const known = request.requestState() ?? {};
    const [first, second] = ['step1', 'step2'].map((key) => acceptedContent(request.inputResponses, key));
    if (known.name && second) return text(`${known.name} likes ${second.color}`);
    if (first) {
      const inputRequests = { step2: elicit('Step 2: What is your favorite color?', 'color') };
      return inputRequired({ inputRequests, requestState: await states.mint({ name: first.name }) });
    }
    const inputRequests = { step1: elicit('Step 1: What is your name?', 'name') };
    return inputRequired({ inputRequests, requestState: await states.mint({ step: 1 }) });
  });
  round('capabilities', 'Asks only what the client can answer.', ({ envelope }) => {
    const can = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
    const inputRequests = {
      ...(can.elicitation && { user_name: NAME }),
      ...(can.sampling && { capital_question: CAPITAL }),
    };
    return Object.keys(inputRequests).length > 0 ? inputRequired({ inputRequests }) : text('Nothing to ask.');
  });
  // The SDK looks for the capability, and refuses the call with -32021.
  tool('missing_capability', 'Needs the model of the client.', () =>
    inputRequired({ inputRequests: { capital_question: CAPITAL } }),
  );
}
