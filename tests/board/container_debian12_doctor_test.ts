import { container } from "./container.ts";
import { followInContainer } from "./follow_guide.ts";
import { missingBoard } from "./prepare.ts";
import { needs } from "../helpers/needs.ts";

Deno.test({
  ...needs({ missing: [await missingBoard("container")] }),
  name: "datasensor-doctor in a container with Debian 12",
  fn: (test) => followInContainer(test, container("bookworm"), "doctor"),
});
