// An MCP host: how it gets an access token for an endpoint of the gateway.

import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
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
