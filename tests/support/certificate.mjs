// A certificate that signs itself, for one test run: no program and no file is needed. X.509 as RFC 5280 has it, in DER.

import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const HOUR = 3_600_000;
const tlv = (tag, ...parts) => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};
const sequence = (...parts) => tlv(0x30, ...parts);
const set = (...parts) => tlv(0x31, ...parts);
const integer = (bytes) => tlv(0x02, bytes);
const octets = (...parts) => tlv(0x04, ...parts);
const bits = (bytes) => tlv(0x03, Buffer.from([0]), bytes);
const utf8 = (text) => tlv(0x0c, Buffer.from(text));
const oid = (...bytes) => tlv(0x06, Buffer.from(bytes));
const time = (date) => tlv(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`));

const ECDSA_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const COMMON_NAME = oid(0x55, 0x04, 0x03);
const ALTERNATIVE_NAMES = oid(0x55, 0x1d, 0x11);

/**
 * A certificate for the DNS name `host`, valid now. `key` and `cert` are PEM, as node:tls takes them; `pin` is what
 * Chromium's `--ignore-certificate-errors-spki-list` takes: the digest of the public key.
 */
export function certify(host) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const name = sequence(set(sequence(COMMON_NAME, utf8(host))));
  const names = sequence(tlv(0x82, Buffer.from(host)));
  const now = Date.now();
  const body = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    // A serial number is positive, so its first bit is zero; a leading one makes the length fixed.
    integer(Buffer.concat([Buffer.from([0x40]), randomBytes(15)])),
    ECDSA_SHA256,
    name,
    sequence(time(new Date(now - HOUR)), time(new Date(now + 24 * HOUR))),
    name,
    spki,
    tlv(0xa3, sequence(sequence(ALTERNATIVE_NAMES, octets(names)))),
  );
  const certificate = sequence(body, ECDSA_SHA256, bits(sign('sha256', body, privateKey)));
  const lines = certificate.toString('base64').match(/.{1,64}/g).join('\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    pin: createHash('sha256').update(spki).digest('base64'),
  };
}
