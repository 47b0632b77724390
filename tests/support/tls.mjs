// TLS in front of a service that speaks plain HTTP, as a reverse proxy does it.

import { request } from 'node:https';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { createServer } from 'node:tls';
import { within } from './deadline.mjs';

/** Ends TLS at a free port of loopback with `certificate` and passes the bytes on to `port` there. */
export async function startTls({ certificate: { key, cert }, port }) {
  const sockets = new Set();
  const server = createServer({ key, cert, ALPNProtocols: ['http/1.1'] }, (client) => {
    const service = connect(port, '127.0.0.1');
    for (const [socket, other] of [[client, service], [service, client]]) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => sockets.delete(socket));
      socket.pipe(other);
    }
  });
  // A browser that does not like the certificate hangs up.
  server.on('tlsClientError', () => {});
  await within(5_000, 'the TLS front listens', new Promise((resolve) => server.listen(0, '127.0.0.1', resolve)));
  const { port: own } = server.address();
  return {
    port: own,
    /** The global fetch, as far as tests use it, for requests to the host of the certificate. */
    fetch: (url, init) => fetchFrom({ port: own, ca: cert }, new URL(url), init),
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function fetchFrom({ port, ca }, url, { method = 'GET', headers, body, signal } = {}) {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      servername: url.hostname,
      ca,
      path: url.pathname + url.search,
      method,
      headers: { ...Object.fromEntries(new Headers(headers)), host: url.host },
      agent: false,
      signal,
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const { statusCode: status, headers } = incoming;
      const empty = status === 204 || status === 304;
      const pairs = Object.entries(headers).flatMap(([name, values]) => [values].flat().map((value) => [name, value]));
      resolve(new Response(empty ? null : Readable.toWeb(incoming), { status, headers: pairs }));
    });
    outgoing.end(body);
  });
}
