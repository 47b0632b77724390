// An OpenID Connect issuer with two accounts: the certified package `oidc-provider`, with plain pages of our own.

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import Provider, { errors, interactionPolicy } from 'oidc-provider';
import { within } from '../support/deadline.mjs';

/** The accounts, by what their owners type; `sub` is what the issuer says of them. */
export const ACCOUNTS = {
  alice: { sub: '7c1f0a', password: 'alice-pass-1', name: 'Alice Example', groups: ['engineering'] },
  bob: { sub: '9d4e2b', password: 'bob-pass-2', name: 'Bob Example', groups: ['sales'] },
};

/** The gateway's own client, with a secret; and the MCP host's, which has none and listens at any port (RFC 8252). */
export const WEB = { id: 'usher', secret: 'web-client-secret-0123456789abcdef' };
export const HOST = { id: 'pocket-assistant', redirect: 'http://127.0.0.1/callback' };

/** How the names of its cookies start; on loopback the gateway's stand beside them. */
export const ISSUER_COOKIES = 'issuer-';

/**
 * Starts it at a free port of loopback. `usher` is the origin of the gateway whose sign-in it serves, `resources` are the
 * endpoints that access tokens may be for (RFC 8707): JWTs with exactly that `aud`.
 */
export async function startIssuer({ usher, resources }) {
  const server = createServer();
  await within(5_000, 'the issuer listens', new Promise((resolve) => server.listen(0, '127.0.0.1', resolve)));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, configuration({ usher, resources }));
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url.startsWith('/interaction/')) return answer(request, response);
    return interaction(provider, request, response).catch((error) => html(response, 500, `<h1>Failed</h1><pre>${text(error)}</pre>`));
  });
  return {
    issuer,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function configuration({ usher, resources }) {
  // Each person who signed in has consented, also to programs on their machine.
  const policy = interactionPolicy.base();
  policy.get('consent').checks.remove('native_client_prompt');
  return {
    jwks: { keys: [signingKey('RS256', 'rsa', { modulusLength: 2048 }), signingKey('ES256', 'ec', { namedCurve: 'P-256' })] },
    cookies: { keys: [randomBytes(32).toString('hex')], names: cookieNames() },
    clients: [
      {
        client_id: WEB.id,
        client_secret: WEB.secret,
        client_name: 'Usher',
        redirect_uris: [`${usher}/login/callback`],
        post_logout_redirect_uris: [`${usher}/logout`],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
      {
        client_id: HOST.id,
        client_name: 'Pocket Assistant',
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: [HOST.redirect],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    pkce: { required: () => true },
    scopes: ['openid', 'profile'],
    claims: { openid: ['sub'], profile: ['name', 'groups'] },
    conformIdTokenClaims: false,
    findAccount: (_, sub) => {
      const account = Object.values(ACCOUNTS).find((known) => known.sub === sub);
      return account && { accountId: sub, claims: () => ({ sub, name: account.name, groups: account.groups }) };
    },
    extraTokenClaims: (_, token) => {
      const account = Object.values(ACCOUNTS).find(({ sub }) => sub === token.accountId);
      return account && { groups: account.groups };
    },
    loadExistingGrant: granted,
    interactions: { policy, url: (_, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 3600, IdToken: 600, Interaction: 600, Session: 3600 },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => {
          if (!resources.includes(resource)) throw new errors.InvalidTarget();
          return { scope: 'mcp', accessTokenFormat: 'jwt', accessTokenTTL: 600, jwt: { sign: { alg: 'ES256' } } };
        },
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context, form) => {
          context.body = page(
            'Sign out?',
            `${form}<button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>`,
          );
        },
        postLogoutSuccessSource: (context) => {
          context.body = page('Signed out', '');
        },
      },
    },
    renderError: (context, out) => {
      context.type = 'html';
      context.body = page('Refused', `<pre>${text(JSON.stringify(out))}</pre>`);
    },
  };
}

const cookieNames = () =>
  Object.fromEntries(['session', 'interaction', 'resume'].map((name) => [name, ISSUER_COOKIES + name]));

function signingKey(alg, type, options) {
  const { privateKey } = generateKeyPairSync(type, options);
  return { ...privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: alg.toLowerCase() };
}

/** Consents for the person to all that the client asks for. */
async function granted({ oidc }) {
  const known = oidc.session.grantIdFor(oidc.client.clientId);
  const grant = known
    ? await oidc.provider.Grant.find(known)
    : new oidc.provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId });
  grant.addOIDCScope('openid profile');
  for (const resource of [oidc.params.resource ?? []].flat()) grant.addResourceScope(resource, 'mcp');
  await grant.save();
  return grant;
}

/** The sign-in page of the issuer, and what is sent from it. */
async function interaction(provider, request, response) {
  const { prompt } = await provider.interactionDetails(request, response);
  if (prompt.name !== 'login') return html(response, 501, `<h1>No page for ${text(prompt.name)}</h1>`);
  if (request.method !== 'POST') return html(response, 200, signIn(''));
  const sent = new URLSearchParams(await body(request));
  const account = ACCOUNTS[sent.get('login')];
  if (account?.password !== sent.get('password')) return html(response, 200, signIn('<p>That is wrong.</p>'));
  return provider.interactionFinished(request, response, { login: { accountId: account.sub } });
}

const signIn = (fault) =>
  page(
    'Sign in at Example ID',
    `${fault}<form method="post"><label>Name <input name="login"></label>
    <label>Password <input name="password" type="password"></label><button type="submit">Sign in</button></form>`,
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
