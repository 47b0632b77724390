// Tools that answer at once: the kinds of content, an error, a schema, a parameter in a header.

import { fromJsonSchema } from '@modelcontextprotocol/server';

/** A PNG of one red pixel, and a WAV without a sound. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

export const text = (content) => ({ content: [{ type: 'text', text: content }] });
export const NOTHING = fromJsonSchema({ type: 'object', properties: {} });

const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const resource = (uri, mimeType, content) => ({ type: 'resource', resource: { uri, mimeType, text: content } });

const ANSWERS = {
  test_simple_text: text('This is a simple text response for testing.'),
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] },
  test_embedded_resource: {
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  },
  test_multiple_content_types: {
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  },
  test_error_handling: { isError: true, ...text('This tool intentionally returns an error for testing') },
};

/** Every part of JSON Schema 2020-12 that a list of tools must bring to the client unharmed. */
const FULL_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

export function registerContent(server) {
  for (const [name, answer] of Object.entries(ANSWERS)) {
    server.registerTool(name, { description: `Answers: ${name}.`, inputSchema: NOTHING }, () => answer);
  }
  const full = { description: 'Has a schema with everything.', inputSchema: fromJsonSchema(FULL_SCHEMA) };
  server.registerTool('json_schema_2020_12_tool', full, (given) => text(JSON.stringify(given)));
  const region = { type: 'string', description: 'It also stands in a header.', 'x-mcp-header': 'Region' };
  const headed = fromJsonSchema({ type: 'object', properties: { region }, required: ['region'] });
  const description = 'Has a parameter that is repeated in a header.';
  server.registerTool('test_header_parameter', { description, inputSchema: headed }, ({ region }) => text(region));
}
