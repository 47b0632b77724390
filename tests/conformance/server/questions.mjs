// Tools of the legacy era that ask while they run.

import { fromJsonSchema } from '@modelcontextprotocol/server';
import { NOTHING, text } from './content.mjs';

const options = ['option1', 'option2', 'option3'];
const titled = (title) => [1, 2, 3].map((number) => ({ const: `value${number}`, title: `${title} ${number}` }));

const DEFAULTS = {
  name: { type: 'string', description: 'Name', default: 'John Doe' },
  age: { type: 'integer', description: 'Age', default: 30 },
  score: { type: 'number', description: 'Score', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', description: 'Verified', default: true },
};
const ENUMS = {
  untitledSingle: { type: 'string', enum: options },
  titledSingle: { type: 'string', oneOf: titled('Option') },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
  titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
};
const USER = {
  username: { type: 'string', description: "User's response" },
  email: { type: 'string', description: "User's email address" },
};

const one = (name) => fromJsonSchema({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });

export function registerQuestions(server) {
  const form = async (context, message, properties, required = []) => {
    const requestedSchema = { type: 'object', properties, required };
    const params = { mode: 'form', message, requestedSchema };
    // On the stream of the call, where a question about it belongs; the shorthand of the SDK takes the GET stream.
    const { action, content } = await context.mcpReq.send({ method: 'elicitation/create', params });
    return `action=${action}, content=${JSON.stringify(content ?? {})}`;
  };

  const asks = { description: 'Asks for a name and an address.', inputSchema: one('message') };
  server.registerTool('test_elicitation', asks, async ({ message }, context) =>
    text(`User response: ${await form(context, message, USER, ['username', 'email'])}`),
  );
  const filled = { description: 'Asks with default values.', inputSchema: NOTHING };
  server.registerTool('test_elicitation_sep1034_defaults', filled, async (_, context) =>
    text(`Elicitation completed: ${await form(context, 'Please review', DEFAULTS)}`),
  );
  const chosen = { description: 'Asks with every kind of choice.', inputSchema: NOTHING };
  server.registerTool('test_elicitation_sep1330_enums', chosen, async (_, context) =>
    text(`Elicitation completed: ${await form(context, 'Please choose', ENUMS)}`),
  );
  const samples = { description: 'Asks the model of the client.', inputSchema: one('prompt') };
  server.registerTool('test_sampling', samples, async ({ prompt }, context) => {
    const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
    const params = { messages, maxTokens: 100 };
    const { content } = await context.mcpReq.send({ method: 'sampling/createMessage', params });
    return text(`LLM response: ${content.text}`);
  });
}
