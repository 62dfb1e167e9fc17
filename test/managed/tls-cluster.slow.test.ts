import { afterAll, beforeAll, expect, test } from "vitest";
import { reportOf } from "../doctor/report-of.ts";
import { type RedisCluster, startCluster } from "../harness/servers/redis-cluster.ts";
import { type Certificates, makeCertificates, tlsArguments } from "./certificates.ts";
import { clusterOpeners, failureOf, passLock } from "./openers.ts";

let certificates: Certificates;
let cluster: RedisCluster;
let urls: string[];
beforeAll(async () => {
  certificates = makeCertificates();
  cluster = await startCluster(2, 0, undefined, { tls: tlsArguments(certificates, "yes") });
  urls = cluster.nodes.map(({ tlsPort }) => `rediss://127.0.0.1:${tlsPort}`);
});
afterAll(async () => {
  await cluster?.stop();
  certificates?.remove();
});

const ours = () => {
  const { ca, client } = certificates;
  return { ca: ca.cert, cert: client.cert, key: client.key };
};

test.each(Object.entries(clusterOpeners))("%s: calls and messages pass on both nodes", async (_of, open) => {
  const store = open(urls, { tls: ours() });
  for (let i = 0; i < 6; i++) await passLock(store);
});

test.each(Object.entries(clusterOpeners))("%s: another CA", async (_of, open) => {
  const { message } = await failureOf(open(urls, { tls: { ...ours(), ca: certificates.otherCa.cert } }));
  expect(message).toMatch(
    /certificate is not trusted .* pass the CA that signed it|none of the cluster's nodes could be/,
  );
});

test.each(Object.entries(clusterOpeners))("%s: no TLS to a port with TLS", async (_of, open) => {
  const { message } = await failureOf(open(urls.map((url) => url.replace("rediss:", "redis:"))));
  expect(message).toMatch(
    /may expect TLS on this port|none of the cluster's nodes could be .* the use of TLS is wrong/,
  );
});

test("the doctor examines the nodes", async () => {
  const { ca, client } = certificates;
  const files = ["--tls-ca", ca.certFile, "--tls-cert", client.certFile, "--tls-key", client.keyFile];
  const { report, check } = await reportOf(urls.join(","), ...files);
  expect(report.mode).toBe("cluster");
  expect(check("connection").facts).toEqual({ tls: true, user: "default" });
  expect(check("steps").verdict).toBe("good");
});
