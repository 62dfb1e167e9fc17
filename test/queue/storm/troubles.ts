import { setTimeout as pause } from "node:timers/promises";
import type { Member, Scene } from "./scene.ts";

type Trouble = (scene: Scene, member: Member) => unknown;

// biome-ignore lint/suspicious/noThenProperty: what becomes of the connection
const silently = { then: "silence" } as const;

/** What befalls one member, its way to the server, or the server. */
const TROUBLES: Record<string, Trouble> = {
  cuts: (_, { proxy }) => proxy.cut(),
  async refusals({ random }, { proxy }) {
    proxy.refuse(true);
    proxy.cut();
    await pause(random.int(20, 300));
    proxy.refuse(false);
  },
  "lost replies": ({ random }, { proxy }) => proxy.dropReplies(random.int(1, 3)),
  "silent connections": (_, { proxy }) => proxy.dropReplies(1, silently),
  "lost requests": ({ random }, { proxy }) => proxy.dropRequests(random.int(1, 2)),
  "lost hints": (_, { proxy }) => proxy.dropReplies(1000, { command: "", ...silently }),
  "slow ways": ({ random }, { proxy }) => proxy.delay(random.int(1, 60)),
  async stops({ random }, { host }) {
    host.pause();
    await pause(random.int(20, 500));
    host.resume();
  },
  async "silences of the server"({ random, site }) {
    site.pause();
    await pause(random.int(20, 400));
    site.resume();
  },
  "kills of the server": ({ site }) => site.restart(),
  async pauses(scene) {
    await scene.directly((queue) => queue.pause());
    await pause(scene.random.int(0, 150));
    await scene.directly((queue) => queue.resume());
  },
  async closings(scene, member) {
    if (member.orders.messages !== undefined) return;
    void scene.end(member);
    await scene.work(member.isAlone);
  },
};

async function kill(scene: Scene, member: Member): Promise<void> {
  scene.leave(member);
  await member.host.kill();
  if (member.orders.messages === undefined && scene.random.chance(0.7)) await scene.work(scene.random.chance(0.5));
}

/** A few of them, one after the other. Actors that may be killed usually are. */
export async function trouble(scene: Scene): Promise<void> {
  const { random, cast, troubles } = scene;
  const count = random.int(2, 5);
  for (let i = 0; i < count && cast.length > 0; i++) {
    await pause(random.int(10, 150));
    const member = random.pick(cast);
    const name = member.isAlone && random.chance(0.5) ? "kills" : random.pick(Object.keys(TROUBLES));
    troubles.set(name, (troubles.get(name) ?? 0) + 1);
    if (name === "kills") await kill(scene, member);
    else await TROUBLES[name]!(scene, member);
  }
}
