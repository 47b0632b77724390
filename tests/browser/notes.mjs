// A third party where people have accounts, "Example Notes": the certified package `oidc-provider` with refresh rotation, pages
// of our own, and a server of both eras that takes its access tokens.

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import Provider, { errors } from 'oidc-provider';
import { within } from '../support/deadline.mjs';
import { startUpstream } from '../support/upstream.mjs';

/** What the owner of the one account types, and what the account is called. */
export const OWNER = { login: 'ada', password: 'ada-pass-3', sub: '51c0de', name: 'ada@notes.example' };

/** Our client there, as an operator registers one. */
export const CLIENT = { id: 'usher-at-notes', secret: 'notes-client-secret-0123456789abcdef' };

/** Where tokens are revoked (RFC 7009). */
const REVOCATION = '/token/revocation';

/** How long an access token is good, in seconds. */
const ACCESS_TOKEN = 600;

/**
 * Starts provider and server at free ports of loopback. `usher` is the origin of the gateway, `protects` whether the server is
 * one that demands authorization itself (for each request, listings too), with metadata that name the provider; the tokens it takes are then for it alone
 * (RFC 8707), and clients register themselves. Where it `forwards`, its authorization endpoint stands at another origin, `entry`,
 * which sends browsers on to the pages.
 */
export async function startNotes({ usher, protects = false, forwards = false }) {
  const web = createServer();
  await within(5_000, 'the provider listens', new Promise((resolve) => web.listen(0, '127.0.0.1', resolve)));
  const issuer = `http://127.0.0.1:${web.address().port}`;
  const places = { resource: undefined };
  const provider = new Provider(issuer, configuration({ usher, places, protects }));
  const events = [];
  watch(provider, events);
  const answer = provider.callback();
  web.on('request', (request, response) => {
    if (request.url === REVOCATION) response.on('finish', () => response.statusCode === 200 && events.push('revoked'));
    if (!request.url.startsWith('/interaction/')) return answer(request, response);
    return interaction(provider, request, response).catch((error) => html(response, 500, page('Failed', `<pre>${text(error)}</pre>`)));
  });

  const front = forwards ? await startFront(issuer, events) : undefined;

  const seen = new Set();
  const admits = async (token) => {
    const found = await provider.AccessToken.find(token);
    if (!found) return false;
    seen.add(token);
    return !protects || [found.aud].flat().includes(places.resource);
  };
  const routes = {};
  const refusal = {};
  const read = ({ authorization = '' }) => authorization.match(/^Bearer (.+)$/)?.[1];
  const upstream = await startUpstream({ read, admits, always: protects, refusal, routes });
  places.resource = `${upstream.origin}/mcp`;
  if (protects) {
    const metadata = '/.well-known/oauth-protected-resource/mcp';
    routes[metadata] = { resource: places.resource, authorization_servers: [issuer], scopes_supported: ['notes:read'] };
    refusal['www-authenticate'] = `Bearer resource_metadata="${upstream.origin}${metadata}", scope="notes:read"`;
  }
  return {
    issuer,
    /** The origin of the authorization endpoint. */
    entry: front?.origin ?? issuer,
    upstream,
    /** The access tokens that came to the server and were good there. */
    tokens: () => [...seen],
    /** How often something of this name happened at the provider: what `watch` notes, and `revoked`. */
    count: (name) => events.filter((event) => event === name).length,
    /** Ends the access token, as if its time were over; the grant goes on. */
    async expire(token) {
      const found = await provider.AccessToken.find(token);
      await found?.destroy();
    },
    /** The owner takes the access away, in the settings of their account. */
    async withdraw(token) {
      const found = await provider.AccessToken.find(token);
      const { grantId } = found;
      await provider.AccessToken.revokeByGrantId(grantId);
      await provider.RefreshToken.revokeByGrantId(grantId);
      await (await provider.Grant.find(grantId))?.destroy();
    },
    async stop() {
      await upstream.stop();
      await front?.stop();
      web.closeAllConnections();
      await new Promise((resolve) => web.close(resolve));
    },
  };
}

/** Another origin, which sends each browser on to the same path of `issuer`, and notes it as `forwarded`. */
async function startFront(issuer, events) {
  const web = createServer((request, response) => {
    if (request.url.startsWith('/auth?')) events.push('forwarded');
    response.writeHead(302, { location: `${issuer}${request.url}` }).end();
  });
  await within(5_000, 'the front listens', new Promise((resolve) => web.listen(0, '127.0.0.1', resolve)));
  return {
    origin: `http://127.0.0.1:${web.address().port}`,
    stop() {
      web.closeAllConnections();
      return new Promise((resolve) => web.close(resolve));
    },
  };
}

/** Notes what the provider does: `code`, `exchanged`, `refreshed`, `replayed`, `registered`. */
function watch(provider, events) {
  const note = (name) => () => void events.push(name);
  provider.on('authorization_code.saved', note('code'));
  provider.on('grant.success', ({ oidc }) => events.push(oidc.params.grant_type === 'refresh_token' ? 'refreshed' : 'exchanged'));
  provider.on('grant.revoked', note('replayed'));
  provider.on('registration_create.success', note('registered'));
}

function configuration({ usher, places, protects }) {
  const registered = {
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    client_name: 'Usher',
    redirect_uris: [`${usher}/callback/notes`],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  return {
    jwks: { keys: [signingKey()] },
    cookies: { keys: [randomBytes(32).toString('hex')], names: cookieNames() },
    clients: protects ? [] : [registered],
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
    pkce: { required: () => true },
    scopes: ['openid', 'profile', 'offline_access', 'notes:read', 'notes:write'],
    claims: { openid: ['sub'], profile: ['name'] },
    conformIdTokenClaims: false,
    findAccount: (_, sub) => (sub === OWNER.sub ? { accountId: sub, claims: () => ({ sub, name: OWNER.name }) } : undefined),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    // Each refresh token is good once; who sends an old one ends the grant.
    rotateRefreshToken: true,
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    ttl: {
      AccessToken: ACCESS_TOKEN,
      AuthorizationCode: 60,
      Grant: 3600,
      IdToken: 600,
      Interaction: 600,
      RefreshToken: 3600,
      Session: 3600,
    },
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true },
      registration: { enabled: protects },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => {
          if (resource !== places.resource) throw new errors.InvalidTarget();
          return { scope: 'notes:read notes:write', accessTokenFormat: 'opaque', accessTokenTTL: ACCESS_TOKEN };
        },
      },
    },
    renderError: (context, out) => {
      context.type = 'html';
      context.body = page('Refused', `<pre>${text(JSON.stringify(out))}</pre>`);
    },
  };
}

const cookieNames = () => Object.fromEntries(['session', 'interaction', 'resume'].map((name) => [name, `notes-${name}`]));

function signingKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'rs256' };
}

/** The pages of the provider, and what is sent from them. */
async function interaction(provider, request, response) {
  const details = await provider.interactionDetails(request, response);
  const { prompt } = details;
  if (request.method !== 'POST') return html(response, 200, prompt.name === 'login' ? signIn('') : consent(details));
  const sent = new URLSearchParams(await body(request));
  if (prompt.name === 'login') {
    const right = sent.get('login') === OWNER.login && sent.get('password') === OWNER.password;
    if (!right) return html(response, 200, signIn('<p>That is wrong.</p>'));
    return provider.interactionFinished(request, response, { login: { accountId: OWNER.sub } });
  }
  if (sent.get('choice') !== 'allow') {
    const refused = { error: 'access_denied', error_description: 'the owner did not agree' };
    return provider.interactionFinished(request, response, refused);
  }
  const grantId = await granted(provider, details);
  return provider.interactionFinished(request, response, { consent: { grantId } }, { mergeWithLastSubmission: true });
}

/** The person allows all that the client asks for. */
async function granted(provider, { grantId, session, params, prompt }) {
  const known = grantId && (await provider.Grant.find(grantId));
  const grant = known ?? new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details;
  grant.addOIDCScope([params.scope ?? '', ...missingOIDCScope].join(' ').trim());
  for (const [resource, scopes] of Object.entries(missingResourceScopes)) grant.addResourceScope(resource, scopes.join(' '));
  return grant.save();
}

const signIn = (fault) =>
  page(
    'Sign in at Example Notes',
    `${fault}<form method="post"><label>Name <input name="login"></label>
    <label>Password <input name="password" type="password"></label><button type="submit">Sign in</button></form>`,
  );

const consent = ({ params }) =>
  page(
    'Allow access to your notes?',
    `<p id="scope">${text(params.scope ?? '')}</p><form method="post"><button name="choice" value="allow">Allow</button>
    <button name="choice" value="deny">Deny</button></form>`,
  );

const page = (title, main) =>
  `<!doctype html><html lang="en"><title>${title}</title><link rel="icon" href="data:,"><main><h1>${title}</h1>${main}</main></html>`;

const text = (value) => String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function html(response, status, content) {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).end(content);
}

async function body(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
