// An MCP host: how it gets an access token for an endpoint of the gateway, by hand or with the official client.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { within } from '../support/deadline.mjs';
import { ACCOUNTS, HOST } from './issuer.mjs';

/** An access token for `resource`, as `who` gets it who types name and password at the issuer; by requests alone. */
export async function tokenFor(issuer, who, resource) {
  const redirect = HOST.redirect;
  const verifier = randomBytes(32).toString('base64url');
  const found = await fetch(`${issuer}/.well-known/openid-configuration`);
  const { authorization_endpoint: authorize, token_endpoint: token } = await found.json();
  const start = new URL(authorize);
  start.search = new URLSearchParams({
    client_id: HOST.id,
    response_type: 'code',
    redirect_uri: redirect,
    scope: 'mcp',
    resource,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const jar = new Map();
  const page = await follow(jar, start, redirect);
  const body = new URLSearchParams({ login: who, password: ACCOUNTS[who].password });
  const end = await follow(jar, page, redirect, { method: 'POST', body });
  const answer = await fetch(token, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: HOST.id,
      code: end.searchParams.get('code'),
      redirect_uri: redirect,
      code_verifier: verifier,
      resource,
    }),
  });
  const { access_token: value, error_description: fault } = await answer.json();
  if (!value) throw new Error(`no access token for ${who}: ${fault}`);
  return value;
}

/** Requests `url` and what it leads to, with the cookies of `jar`; the address where that ends, or the one that starts with `stop`. */
async function follow(jar, url, stop, init = {}) {
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } });
  for (const line of response.headers.getSetCookie()) {
    const [, name, value] = line.match(/^([^=]+)=([^;]*)/);
    jar.set(name, value);
  }
  const location = response.headers.get('location');
  if (!location) return url;
  const next = new URL(location, url);
  return next.href.startsWith(stop) ? next : follow(jar, next, stop);
}

/**
 * A client of the official SDK for the legacy era, which finds the issuer by itself: it calls without a token, reads what
 * the refusal names, and has `visit(address)` open the issuer's page in a browser. `answer` is what it does with a question.
 */
export async function connectHost(t, service, { visit, answer }) {
  const callback = await listen(t);
  const authProvider = new Authorization(callback.url);
  const begin = () => {
    const client = new Client({ name: 'Pocket Assistant', version: '1' }, { capabilities: { elicitation: { url: {} } } });
    client.setRequestHandler('elicitation/create', ({ params }) => answer(params));
    const transport = new StreamableHTTPClientTransport(new URL(service.mcp), { authProvider, fetch: service.fetch });
    return { client, transport };
  };
  const first = begin();
  await assert.rejects(first.client.connect(first.transport, { timeout: 10_000 }), (error) => UnauthorizedError.isInstance(error));
  await visit(authProvider.page.href);
  const found = await within(10_000, 'the issuer leads back to the host', callback.answer);
  assert.equal(found.get('state'), authProvider.page.searchParams.get('state'));
  await first.transport.finishAuth(found);
  await first.client.close();
  const { client, transport } = begin();
  await client.connect(transport, { timeout: 10_000 });
  t.after(() => client.close());
  return client;
}

/** What a host keeps for its authorization, as the SDK asks for it. */
class Authorization {
  #kept = {};

  constructor(redirectUrl) {
    this.redirectUrl = redirectUrl;
  }

  get clientMetadata() {
    return { redirect_uris: [this.redirectUrl], grant_types: ['authorization_code'], token_endpoint_auth_method: 'none' };
  }
  clientInformation = () => ({ client_id: HOST.id });
  state = () => randomBytes(16).toString('base64url');
  redirectToAuthorization = (page) => void (this.page = page);
  saveCodeVerifier = (verifier) => void (this.#kept.verifier = verifier);
  codeVerifier = () => this.#kept.verifier;
  saveTokens = (tokens) => void (this.#kept.tokens = tokens);
  tokens = () => this.#kept.tokens;
  saveDiscoveryState = (state) => void (this.#kept.discovery = state);
  discoveryState = () => this.#kept.discovery;
}

/** The host's own address that the issuer leads back to: `answer` are the parameters that came there. */
async function listen(t) {
  const server = createServer();
  await within(5_000, 'the host listens', new Promise((resolve) => server.listen(0, '127.0.0.1', resolve)));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}/callback`;
  const answer = new Promise((resolve) => {
    server.on('request', (request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><title>Pocket Assistant</title><link rel="icon" href="data:,"><h1>Go back to Pocket Assistant</h1>');
      const { pathname, searchParams } = new URL(request.url, url);
      if (pathname === '/callback') resolve(searchParams);
    });
  });
  return { url, origin: new URL(url).origin, answer };
}
