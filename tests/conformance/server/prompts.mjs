// Prompts, one with completion, and one that asks before it answers.

import { acceptedContent, fromJsonSchema, inputRequired } from '@modelcontextprotocol/server';
import { PNG } from './content.mjs';

const user = (content) => ({ role: 'user', content });
const say = (text) => user({ type: 'text', text });

export function registerPrompts(server) {
  server.server.setRequestHandler('completion/complete', ({ params }) => {
    const values = WORDS.filter((word) => word.startsWith(params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
  server.registerPrompt('test_simple_prompt', { description: 'Says one thing.' }, () => ({
    messages: [say('This is a simple prompt for testing.')],
  }));
  const argsSchema = strings('arg1', 'arg2');
  server.registerPrompt('test_prompt_with_arguments', { description: 'Repeats.', argsSchema }, ({ arg1, arg2 }) => ({
    messages: [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  }));
  const embedded = { description: 'Brings a resource.', argsSchema: strings('resourceUri') };
  server.registerPrompt('test_prompt_with_embedded_resource', embedded, ({ resourceUri: uri }) => ({
    messages: [
      user({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } }),
      say('Please process the embedded resource above.'),
    ],
  }));
  server.registerPrompt('test_prompt_with_image', { description: 'Brings a picture.' }, () => ({
    messages: [user({ type: 'image', data: PNG, mimeType: 'image/png' }), say('Please analyze the image above.')],
  }));
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks first.' }, (context) => {
    const answer = acceptedContent(context.mcpReq.inputResponses, 'user_context');
    if (answer) return { messages: [say(`Context: ${answer.context}`)] };
    const requestedSchema = { type: 'object', properties: { context: { type: 'string' } }, required: ['context'] };
    const message = 'What context should the prompt use?';
    return inputRequired({ inputRequests: { user_context: inputRequired.elicit({ message, requestedSchema }) } });
  });
}

/** Words that the first argument of a prompt may be completed to. */
const WORDS = ['paris', 'park', 'party'];

/** Arguments that are all strings and needed. */
function strings(...names) {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  return fromJsonSchema({ type: 'object', properties, required: names });
}
