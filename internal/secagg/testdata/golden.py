"""Golden vectors of the masking protocol, from the words of docs/protocol.md alone: what TestGolden and
TestGraphGolden compare with. python3 golden.py prints them; it needs the package cryptography."""
import hashlib, hmac, struct
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

L = 2**252 + 27742317777372353535851937790883648493
sha = lambda *p: hashlib.sha256(b"".join(p)).digest()
u16 = lambda v: struct.pack(">H", v)
u32 = lambda v: struct.pack(">I", v)
u64 = lambda v: struct.pack(">Q", v)
sc = lambda v: (v % L).to_bytes(32, "little")
H = lambda label, *p: sha(b"covey secagg " + label.encode() + b" v2\0", *p)
RAW = Encoding.Raw, PublicFormat.Raw

def hkdf(secret, salt, label, n, *fields):
    prk = hmac.new(salt or b"\0" * 32, secret, hashlib.sha256).digest()
    info = b"covey secagg v2 " + label.encode() + b"\0" + b"".join(fields)
    out, t, i = b"", b"", 0
    while len(out) < n:
        i += 1
        t = hmac.new(prk, t + info + bytes([i]), hashlib.sha256).digest()
        out += t
    return out[:n]

def scalar(secret, label, *fields):
    return int.from_bytes(hkdf(secret, b"", label, 64, *fields), "little") % L

# ML-KEM-768 (FIPS 203)
Q, N256, KK = 3329, 256, 3
def brv7(i): return int(f"{i:07b}"[::-1], 2)
ZETA = [pow(17, brv7(i), Q) for i in range(128)]
GAMMA = [pow(17, 2 * brv7(i) + 1, Q) for i in range(128)]
def ntt(f):
    f = f[:]; i = 1; l = 128
    while l >= 2:
        for s in range(0, 256, 2 * l):
            z = ZETA[i]; i += 1
            for j in range(s, s + l):
                t = z * f[j + l] % Q
                f[j + l] = (f[j] - t) % Q; f[j] = (f[j] + t) % Q
        l //= 2
    return f
def intt(f):
    f = f[:]; i = 127; l = 2
    while l <= 128:
        for s in range(0, 256, 2 * l):
            z = ZETA[i]; i -= 1
            for j in range(s, s + l):
                t = f[j]
                f[j] = (t + f[j + l]) % Q; f[j + l] = z * (f[j + l] - t) % Q
        l *= 2
    return [x * 3303 % Q for x in f]
def mul(f, g):
    h = [0] * 256
    for i in range(128):
        a0, a1, b0, b1 = f[2*i], f[2*i+1], g[2*i], g[2*i+1]
        h[2*i] = (a0*b0 + a1*b1*GAMMA[i]) % Q; h[2*i+1] = (a0*b1 + a1*b0) % Q
    return h
add = lambda f, g: [(a + b) % Q for a, b in zip(f, g)]
sub = lambda f, g: [(a - b) % Q for a, b in zip(f, g)]
def sample_ntt(seed):
    out, buf, n = [], b"", 840
    while True:
        buf = hashlib.shake_128(seed).digest(n)
        out = []
        for i in range(0, n - 2, 3):
            d1 = buf[i] + 256 * (buf[i+1] % 16); d2 = buf[i+1] // 16 + 16 * buf[i+2]
            if d1 < Q: out.append(d1)
            if d2 < Q and len(out) < 256: out.append(d2)
            if len(out) == 256: return out
        n += 168 * 3
def cbd2(b):
    bits = [(x >> i) & 1 for x in b for i in range(8)]
    return [(bits[4*i] + bits[4*i+1] - bits[4*i+2] - bits[4*i+3]) % Q for i in range(256)]
prf = lambda s, n: hashlib.shake_256(s + bytes([n])).digest(128)
def enc(f, d):
    v = 0
    for i, x in enumerate(f): v |= x << (d * i)
    return v.to_bytes(32 * d, "little")
def dec(b, d):
    v = int.from_bytes(b, "little")
    return [(v >> (d * i)) & ((1 << d) - 1) for i in range(256)]
comp = lambda f, d: [((x << d) + Q // 2) // Q % (1 << d) for x in f]
decomp = lambda f, d: [(x * Q + (1 << (d - 1))) >> d for x in f]
def keygen(seed):
    g = hashlib.sha3_512(seed[:32] + bytes([KK])).digest(); rho, sig = g[:32], g[32:]
    A = [[sample_ntt(rho + bytes([j, i])) for j in range(KK)] for i in range(KK)]
    s = [ntt(cbd2(prf(sig, i))) for i in range(KK)]
    e = [ntt(cbd2(prf(sig, KK + i))) for i in range(KK)]
    t = []
    for i in range(KK):
        acc = e[i]
        for j in range(KK): acc = add(acc, mul(A[i][j], s[j]))
        t.append(acc)
    return b"".join(enc(x, 12) for x in t) + rho
def encaps(ek, m):
    g = hashlib.sha3_512(m + hashlib.sha3_256(ek).digest()).digest(); K, r = g[:32], g[32:]
    t = [dec(ek[384*i:384*(i+1)], 12) for i in range(KK)]; rho = ek[384*KK:]
    A = [[sample_ntt(rho + bytes([j, i])) for j in range(KK)] for i in range(KK)]
    y = [ntt(cbd2(prf(r, i))) for i in range(KK)]
    e1 = [cbd2(prf(r, KK + i)) for i in range(KK)]; e2 = cbd2(prf(r, 2 * KK))
    ct = b""
    for i in range(KK):
        acc = [0] * 256
        for j in range(KK): acc = add(acc, mul(A[j][i], y[j]))
        ct += enc(comp(add(intt(acc), e1[i]), 10), 10)
    acc = [0] * 256
    for j in range(KK): acc = add(acc, mul(t[j], y[j]))
    v = add(add(intt(acc), e2), decomp(dec(m, 1), 1))
    return K, ct + enc(comp(v, 4), 4)

owns = lambda i, j: ((i + j) % 2 == 1) == (i < j)

class Setup:
    def __init__(c, n, S, eta=None, umin=None, sparse=None):
        c.n, c.S, c.sparse = n, S, sparse
        e0 = (n - 1) // 3
        c.q = (n + e0) // 2 + 1
        c.eta = e0 if eta is None else eta
        c.umin = umin or max(c.q, c.eta + 2)
        c.T, c.K = (sparse[1], sparse[0]) if sparse else (c.q, n)
        c.whole = c.umin == n
        c.W = 1 if c.whole else 2
        c.study = sha(b"study")
        c.ids = [Ed25519PrivateKey.from_private_bytes(sha(b"identity %d" % i)) for i in range(n)]
        c.pub = [k.public_key().public_bytes(*RAW) for k in c.ids]
        c.roster = sha(*c.pub)
        c.x, c.seal, c.nonce, c.z = [], [], [], []
        for i in range(n):
            seed = sha(b"site %d" % i)
            d = lambda label, m, *f: hkdf(seed, c.study, label, m, *f)
            c.x.append(d("transport", 32)); c.seal.append(d("seal", 64)); c.nonce.append(d("nonce", 32))
            c.z.append([d("slot", 32, u32(s)) for s in range(S)])
        c.X = [X25519PrivateKey.from_private_bytes(k).public_key().public_bytes(*RAW) for k in c.x]
        c.ek = [keygen(s) for s in c.seal]
        c.f = [[[[scalar(c.z[i][s], "be"[w], u32(s), u16(i), u16(k)) for k in range(c.T)] for w in range(2)] for s in range(S)] for i in range(n)]
        c.ann, c.body, c.secrets, c.hh, c.f0, c.g, c.leaves = [], [], [], [], [], [], []
        for i in range(n): c.announce(i)
        if sparse:
            c.board = sha(b"covey secagg board v2\0", *[u64(len(a)) + a for a in c.ann])
            c.tr = sha(b"covey secagg transcript v2\0sparse\0", c.board, *c.nonce)
        else:
            c.tr = sha(b"covey secagg transcript v2\0", *[u64(len(a)) + a for a in c.ann])
    def header(c, i):
        h = b"covey secagg announcement v3\0" + (b"sparse\0" if c.sparse else b"complete\0") + c.study + c.roster
        for v in (c.n, c.eta, c.q, c.umin, c.S) + (tuple(c.sparse) if c.sparse else ()): h += u16(v)
        return h + u16(i)
    def at(c, f, x): return sum(v * pow(x, k, L) for k, v in enumerate(f)) % L
    def announce(c, i):
        hdr = c.header(i); hh = sha(hdr); hek = sha(c.ek[i])
        sec = b"".join(H("secret", hh, u32(s), bytes([w]), sc(c.f[i][s][w][0])) for s in range(c.S) for w in range(c.W))
        mask = sha(b"mask %d" % i)
        f0 = [scalar(mask, "mask polynomial", hh, c.X[i], hek, H("secrets", sec), u16(k)) for k in range(c.T)]
        places, leaves = b"", []
        for x in range(1, c.K + 1):
            l = [H("mask leaf", hh, u16(x), sc(c.at(f0, x)))]
            l += [H("leaf", hh, u16(x), u32(s), bytes([w]), sc(c.at(c.f[i][s][w], x))) for s in range(c.S) for w in range(c.W)]
            leaves.append(l); places += H("place", hh, u16(x), *l)
        g = int.from_bytes(hashlib.sha512(b"covey secagg challenge v2\0" + hh + c.X[i] + hek + sec + u16(c.K) + places).digest(), "little") % L
        fs = [c.f[i][s][w] for s in range(c.S) for w in range(c.W)]
        P = [(f0[k] + sum(pow(g, m + 1, L) * f[k] for m, f in enumerate(fs))) % L for k in range(c.T)]
        body = places + b"".join(map(sc, P))
        if c.sparse: a = hdr + c.X[i] + hek + H("nonce", u16(i), c.nonce[i]) + sec + sha(body)
        else: a = hdr + c.X[i] + c.ek[i] + sec + body
        c.ann.append(a + c.ids[i].sign(a)); c.body.append(body); c.secrets.append(sec)
        c.hh.append(hh); c.f0.append(f0); c.g.append(g); c.leaves.append(leaves)
    def b(c, i, s): return sc(c.f[i][s][0][0])
    def e(c, i, s): return sc(c.f[i][s][1][0])
    def pair(c, s, i, j):
        o = i if owns(i, j) else j
        return hkdf(c.e(o, s), c.tr, "pair", 32, u32(s), u16(min(i, j)), u16(max(i, j)))
    def tag(c, s, i, j): return hkdf(c.pair(s, i, j), c.tr, "tag", 32, u32(s), u16(min(i, j)), u16(max(i, j)))
    def pad(c, s, p, o): return hkdf(c.e(p, s), c.tr, "deposit", 32, u32(s), u16(min(p, o)), u16(max(p, o)))
    # complete graph
    def plain(c, i, j):
        out = b"".join(sc(c.at(c.f[i][s][w], j + 1)) for s in range(c.S) for w in range(c.W))
        return out + (b"".join(c.pair(s, i, j) for s in range(c.S)) if owns(i, j) else b"")
    def tagsof(c, i, j): return b"" if c.whole or not owns(i, j) else b"".join(c.tag(s, i, j) for s in range(c.S))
    def box(c, i, j):
        m = sha(b"capsule of %d for %s" % (i, c.ek[j].hex().encode()))
        ss, ct = encaps(c.ek[j], m)
        dh = X25519PrivateKey.from_private_bytes(c.x[i]).exchange(X25519PublicKey.from_public_bytes(c.X[j]))
        key = hkdf(ss + dh, c.tr, "box", 32, u16(i), u16(j), c.X[i], c.X[j], sha(c.ek[j]), ct)
        sealed = AESGCM(key).encrypt(b"\0" * 12, c.plain(i, j), c.tr + u16(i) + u16(j))
        tags = c.tagsof(i, j)
        sig = c.ids[i].sign(b"covey secagg box v2\0" + c.tr + u16(i) + u16(j) + sha(ct, sealed) + sha(tags))
        return key, ct + sealed + tags + sig
    def owned(c, i): return [j for j in range(c.n) if j != i and owns(i, j)]
    def owners(c, i): return [j for j in range(c.n) if j != i and not owns(i, j)]
    def deposits(c, p):
        return b"".join(bytes(a ^ b for a, b in zip(c.pair(s, p, o), c.pad(s, p, o))) for o in c.owners(p) for s in range(c.S))
    def statement(c, p):
        return c.ids[p].sign(b"covey secagg deposits v2\0" + c.tr + u16(p) + sha(*[sha(c.tagsof(o, p)) for o in c.owners(p)]) + sha(c.deposits(p)))
    def taghash(c, o, s): return H("tags", c.tr, u32(s), u16(o), *[c.tag(s, o, j) for j in c.owned(o)])
    def selfkey(c, i, s, ctx):
        at = 32 * c.W * s
        return hkdf(c.b(i, s), ctx, "self", 32, u32(s), u16(i), c.secrets[i][at:at+32])
    def maskkey(c, s, i, j, ctx): return hkdf(c.pair(s, i, j), ctx, "mask", 32, u32(s), u16(min(i, j)), u16(max(i, j)))
    def upload(c, i, s, ctx, v, bits):
        w = bits // 8
        def stream(key):
            raw = Cipher(algorithms.AES(key), modes.CTR(b"\0" * 16)).encryptor().update(b"\0" * (w * len(v)))
            return [int.from_bytes(raw[w*k:w*k+w], "little") for k in range(len(v))]
        out = [a + b for a, b in zip(v, stream(c.selfkey(i, s, ctx)))]
        for j in range(c.n):
            if j != i:
                sign = 1 if j < i else -1
                out = [a + sign * b for a, b in zip(out, stream(c.maskkey(s, i, j, ctx)))]
        return b"".join((a % 2**bits).to_bytes(w, "little") for a in out)
    def release(c, s, ctx, U): return b"covey secagg release v2\0" + c.tr + u32(s) + ctx + sha(b"covey secagg survivors v2\0", u16(len(U)), *map(u16, U))
    def chain(c, i, s, ctx, u):
        k = hkdf(c.z[i][s], ctx, "noise chain", 32)
        for at in range(c.n, u, -1): k = hkdf(k, b"", "noise chain", 32, u16(at))
        return k
    def shares(c, p, s, ctx, U):
        out = b"covey secagg shares v2\0" + c.release(s, ctx, U) + u16(p)
        for j in range(c.n): out += sc(c.at(c.f[j][s][0 if j in U else 1], p + 1))
        return out + (c.chain(p, s, ctx, len(U)) if p in U and len(U) > c.umin else b"")
    def proof(c, p, dealer, s, ctx, U):
        l = c.leaves[dealer][p][:]
        del l[1 + c.W * s + (0 if dealer in U else 1)]
        return b"covey secagg proof v2\0" + c.release(s, ctx, U) + u16(p) + u16(dealer) + b"".join(l)
    def keys(c, p, s, ctx, U):
        return b"covey secagg keys v2\0" + c.release(s, ctx, U) + u16(p) + b"".join(c.pair(s, p, i) for i in range(c.n) if i != p and i not in U)

def graph(numbers, seed, n, K, m):
    fields = b"".join(map(u16, numbers))
    class Draw:
        def __init__(d, part):
            key = hkdf(seed, b"", "graph " + part, 32, fields)
            d.e = Cipher(algorithms.AES(key), modes.CTR(b"\0" * 16)).encryptor()
        def below(d, k):
            while True:
                x = struct.unpack(">I", d.e.update(b"\0" * 4))[0]
                if x < k * (2**32 // k): return x % k
        def choose(d, items, k):
            items = list(items)
            for i in range(k):
                o = i + d.below(len(items) - i)
                items[i], items[o] = items[o], items[i]
            return items[:k]
    d = Draw("holders")
    holders = [d.choose([i for i in range(n) if i != j], K) for j in range(n)]
    d = Draw("masks")
    nb = [set() for _ in range(n)]
    for j in range(n):
        for i in d.choose([i for i in range(n) if i != j], m): nb[j].add(i); nb[i].add(j)
    committee = sorted(Draw("committee").choose(range(n), K))
    h = b""
    for i in range(n): h += b"".join(map(u16, holders[i])) + b"".join(map(u16, sorted(nb[i])))
    return h + b"".join(map(u16, committee))

if __name__ == "__main__":
    V = []
    def put(name, *parts): V.append((name, sha(*parts).hex()[:16]))
    c = Setup(5, 2)
    ctx = sha(b"golden[]"); U, A = [0, 1, 3, 4], [0, 1, 2, 3, 4]; R = range(5)
    put("secrets", c.x[3], c.seal[3], c.nonce[3], *c.z[3])
    put("coefficients of b", *[sc(v) for s in range(2) for v in c.f[3][s][0]])
    put("coefficients of e", *[sc(v) for s in range(2) for v in c.f[3][s][1]])
    put("mask polynomial", *[sc(v) for v in c.f0[3]])
    put("secret hashes", c.secrets[3])
    put("leaf", c.leaves[3][1][3])
    put("mask leaf", c.leaves[3][1][0])
    put("place", c.body[3][32:64])
    put("challenge", sc(c.g[3]))
    put("announcements", *c.ann)
    put("transcript", c.tr)
    put("pair key", c.pair(1, 1, 4)); put("tag", c.tag(1, 1, 4)); put("pad", c.pad(1, 2, 1))
    put("box key", c.box(3, 1)[0])
    put("boxes", *[c.box(i, j)[1] for i in R for j in R if i != j])
    put("confirmations", *[c.ids[i].sign(b"covey secagg confirmation v2\0" + c.tr + u16(i)) for i in R])
    put("deposits", *[c.deposits(i) for i in R])
    put("statements", *[c.statement(i) for i in R])
    put("tag hashes", *[c.taghash(i, s) for i in R for s in range(2)])
    put("deposit hash", H("deposit hash", c.tr, u16(3), c.deposits(3)))
    put("self key", c.selfkey(3, 1, ctx)); put("mask key", c.maskkey(1, 3, 1, ctx))
    put("uploads", *[c.upload(i, 1, ctx, [(k * i << 20) % 2**b for k in range(100)], b) for i in R for b in (32, 40, 48, 56, 64)])
    lanes = hkdf(c.z[3][1], ctx, "noise lanes", 36)
    put("noise lanes", lanes)
    put("noise share", hkdf(c.z[3][1], ctx, "noise share", 32))
    put("noise chain", *[c.chain(3, 1, ctx, u) for u in (5, 4, 1)])
    put("noise component", *[hkdf(c.chain(3, 1, ctx, l + 1), b"", "noise component", 32, u16(l)) for l in (3, 0)])
    put("releases", *[c.ids[i].sign(c.release(1, ctx, U)) for i in R])
    put("shares", *[c.shares(i, 1, ctx, u) for u in (U, A) for i in R])
    put("proofs", *[c.proof(i, d, 1, ctx, U) for i in R for d in R])
    put("keys", *[c.keys(i, 1, ctx, U) for i in U])
    w = Setup(4, 1, umin=4)
    put("whole: announcements", *w.ann)
    put("whole: boxes", *[w.box(i, j)[1] for i in range(4) for j in range(4) if i != j])
    k = Setup(65, 1, eta=3, umin=35, sparse=(36, 20, 13, 7))
    put("sparse: heads", *k.ann); put("sparse: bodies", *k.body); put("board", k.board); put("sparse: transcript", k.tr)
    numbers = (65, 3, 35, 36, 20, 13, 7)
    put("sparse: graph", graph(numbers, hkdf(k.tr, b"", "graph", 32), 65, 36, 13))
    for name, v in V: print(f'\t"{name}": "{v}",')
    print("TestGraphGolden", sha(graph(numbers, sha(b"graph seed[0]"), 65, 36, 13)).hex()[:16])
