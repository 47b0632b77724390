// A server that has everything the conformance suite looks for, of both eras, with the official SDK.

import * as sdk from '@modelcontextprotocol/server';
import * as node from '@modelcontextprotocol/node';
import { startSdkServer } from '../../support/sdk-server.mjs';
import { registerContent } from './content.mjs';
import { registerPrompts } from './prompts.mjs';
import { registerQuestions } from './questions.mjs';
import { registerResources } from './resources.mjs';
import { registerRounds, states } from './rounds.mjs';
import { registerSignals } from './signals.mjs';

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
};

function make({ era, changed }) {
  const server = new sdk.McpServer(
    { name: 'conforming', version: '1.0.0' },
    { capabilities: CAPABILITIES, requestState: { verify: states.verify } },
  );
  registerContent(server);
  registerResources(server, era);
  registerPrompts(server);
  registerSignals(server, changed);
  registerQuestions(server);
  registerRounds(server);
  return server;
}

/** Starts it at a free port of loopback. */
export const startConforming = () => startSdkServer({ ...sdk, ...node }, make);
