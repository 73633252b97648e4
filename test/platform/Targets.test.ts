import { assert, describe, it } from "@effect/vitest"
import { isPublicAddress, targetProblem } from "../../src/platform/Targets.ts"

// Goal: a webhook reaches the public internet and nothing else. Method: addresses of every range that leads elsewhere, in every
// spelling that a URL parser understands, beside a few that are public.
describe("webhook targets", () => {
  it("are public addresses", () => {
    for (const address of ["8.8.8.8", "1.1.1.1", "203.0.114.1", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8"]) {
      assert.isTrue(isPublicAddress(address), address)
    }
  })

  it("are not private, local, reserved or other special addresses", () => {
    const inside = [
      ["127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1"],
      ["169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192"],
      ["0.0.0.0", "0.1.2.3", "255.255.255.255", "224.0.0.1", "239.1.1.1", "240.0.0.1", "192.0.2.1", "198.18.0.1"],
      ["198.51.100.1", "203.0.113.1", "192.88.99.1"],
      ["::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "100::1"],
      // an IPv4 address inside: mapped, compatible, translated, tunnelled
      ["::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::ffff:10.0.0.1", "::7f00:1", "::10.0.0.1", "::ffff:0:127.0.0.1"],
      ["64:ff9b::7f00:1", "64:ff9b:1::a00:1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
      ["2001:db8::1", "3fff::1", "5f00::1", "4000::1", "not an address", ""]
    ]
    for (const address of inside.flat()) assert.isFalse(isPublicAddress(address), address)
  })

  it("must have https URLs without credentials", () => {
    for (const url of ["https://hooks.example.com/a?b=c", "https://8.8.8.8:8443/", "https://[2606:4700::1111]/"]) {
      assert.isUndefined(targetProblem(url, false), url)
    }
    const refused = [
      [
        "http://hooks.example.com/",
        "ftp://hooks.example.com/",
        "file:///etc/passwd",
        "hooks.example.com",
        "",
        "https://"
      ],
      ["https://user:pass@hooks.example.com/", "https://user@hooks.example.com/", "https://hooks.example.com/#top"],
      ["https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f.0.0.1/", "https://0177.0.0.1/"],
      ["https://[::1]/", "https://[::ffff:169.254.169.254]/", "https://[::ffff:a9fe:a9fe]/", "https://0/"],
      ["https://localhost/", "https://LOCALHOST./", "https://a.localhost/", "https://metadata.google.internal/"],
      ["https://printer.local/", "https://１２７.0.0.1/"]
    ]
    for (const url of refused.flat()) assert.isDefined(targetProblem(url, false), url)
  })

  it("may be any address if the setting allows it, but never with credentials", () => {
    for (const url of ["http://127.0.0.1:9/", "http://localhost/", "https://10.0.0.1/"]) {
      assert.isUndefined(targetProblem(url, true), url)
    }
    for (const url of ["http://user:pass@localhost/", "ftp://localhost/", "nonsense", "http://localhost/#x"]) {
      assert.isDefined(targetProblem(url, true), url)
    }
  })
})
