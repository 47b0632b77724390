// TLS in front of a service that speaks plain HTTP, as a reverse proxy does it.

import { connect } from 'node:net';
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
  return {
    port: server.address().port,
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
