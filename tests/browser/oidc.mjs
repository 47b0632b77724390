// A gateway whose users sign in at an issuer, over http on loopback or over https behind a proxy.

import assert from 'node:assert/strict';
import { certify } from '../support/certificate.mjs';
import { until } from '../support/deadline.mjs';
import { freePort } from '../support/port.mjs';
import { startTls } from '../support/tls.mjs';
import { startUpstream } from '../support/upstream.mjs';
import { startUsher } from '../support/usher.mjs';
import { tokenFor } from './host.mjs';
import { inspect } from './inspect.mjs';
import { ACCOUNTS, WEB, startIssuer } from './issuer.mjs';
import { GOOD_KEY, heading, openPage, press } from './setup.mjs';

const NAME = 'usher.test';
const certificate = certify(NAME);
/** What Chromium needs to reach the gateway over https. */
export const HTTPS = [`--ignore-certificate-errors-spki-list=${certificate.pin}`, `--host-resolver-rules=MAP ${NAME} 127.0.0.1`];

/**
 * Upstream, issuer and gateway for the test `t`. `as(who)` is the gateway as a host of that person calls it, `open()` a
 * browser of somebody who has not signed in.
 */
export async function issued(t, { https = false, store, hold = '1s' } = {}) {
  const upstream = await startUpstream();
  t.after(() => upstream.stop());
  upstream.keys.add(GOOD_KEY);
  const port = await freePort();
  const front = https ? await startTls({ certificate, port }) : undefined;
  if (front) t.after(() => front.stop());
  const origin = front ? `https://${NAME}:${front.port}` : `http://127.0.0.1:${port}`;
  const resource = `${origin}/mcp/weather`;
  const issuer = await startIssuer({ usher: origin, resources: [resource] });
  t.after(() => issuer.stop());
  const identity = `
[identity]
mode = "oidc"
issuer = "${issuer.issuer}"
client_id = "${WEB.id}"
client_secret = "${WEB.secret}"
scopes = ["mcp"]
`;
  const site = { port, origin, identity, store, fetch: front?.fetch };
  const service = await startUsher({ upstream: upstream.origin, hold, site });
  t.after(() => service.stop());
  return {
    upstream,
    issuer: issuer.issuer,
    service,
    as: async (who) => ({ ...service, token: await tokenFor(issuer.issuer, who, resource) }),
    open: (options) => openPage(t, service, { elsewhere: [issuer.issuer], ...options }),
  };
}

/** Types name and password on the issuer's page, and goes where that leads. */
export async function identify(page, who) {
  assert.equal(await heading(page), 'Sign in at Example ID');
  await page.type('input[name=login]', who);
  await page.type('input[name=password]', ACCOUNTS[who].password);
  return press(page, 'button[type=submit]');
}

/** Clicks `selector`, which answers with a page of ours that goes on to another by itself at once. */
export async function leave(page, selector) {
  const start = page.url();
  await press(page, selector);
  await until(10_000, 'the browser goes on by itself', () => new URL(page.url()).pathname !== '/logout' && page.url() !== start);
  await page.waitForSelector('h1');
}

/** The same, but the page, called `name`, is held still and looked at, and left by its link. */
export async function leaveByHand(page, selector, name) {
  const debug = await page.createCDPSession();
  debug.on('Fetch.requestPaused', ({ requestId, responseStatusCode: responseCode, responseHeaders: all }) => {
    const responseHeaders = all.filter((header) => header.name.toLowerCase() !== 'refresh');
    debug.send('Fetch.continueResponse', { requestId, responseCode, responseHeaders });
  });
  await debug.send('Fetch.enable', { patterns: [{ urlPattern: '*/logout', requestStage: 'Response' }] });
  await press(page, selector);
  await debug.detach();
  await inspect(page, name);
  return press(page, 'main a.button');
}
