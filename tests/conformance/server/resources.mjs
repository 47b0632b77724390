// Resources, a template, and subscriptions.

import { ResourceTemplate } from '@modelcontextprotocol/server';
import { PNG } from './content.mjs';

const TEXT = 'This is the content of the static text resource.';

export function registerResources(server, era) {
  const plain = { description: 'A text.', mimeType: 'text/plain' };
  server.registerResource('static-text', 'test://static-text', plain, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: TEXT }],
  }));
  server.registerResource('watched', 'test://watched-resource', plain, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'Nothing happened yet.' }],
  }));
  const picture = { description: 'A picture.', mimeType: 'image/png' };
  server.registerResource('static-binary', 'test://static-binary', picture, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  const json = { description: 'Data of an id.', mimeType: 'application/json' };
  server.registerResource('template', template, json, ({ href }, { id }) => {
    const data = { id, templateTest: true, data: `Data for ID: ${id}` };
    return { contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify(data) }] };
  });
  if (era === 'legacy') {
    for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
      server.server.setRequestHandler(method, () => ({}));
    }
  }
}
