package manifests

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const chart = "../../../deploy/helm/covey"

// federation and north are the values for what deploy/kubernetes/example builds.
const federation = `
image: { repository: registry.example/covey, tag: "1.0.0" }
coordinators: { addresses: ["covey-0.example:7443", "covey-1.example:7443", "covey-2.example:7443"] }
`

func north(t *testing.T) string {
	config, err := os.ReadFile(root + "example/north/agent.toml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(map[string]any{
		"image":        map[string]any{"repository": "registry.example/covey", "tag": "1.0.0"},
		"coordinators": map[string]any{"enabled": false},
		"agent":        map[string]any{"enabled": true, "config": string(config)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// render is helm install --dry-run: the chart with values, every object decoded strictly.
func render(t *testing.T, values, namespace string) (map[string]runtime.Object, error) {
	t.Helper()
	c, err := loader.Load(chart)
	if err != nil {
		t.Fatal(err)
	}
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: "x", Namespace: namespace, IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(c, all)
	if err != nil {
		return nil, err
	}
	out := map[string]runtime.Object{}
	for name, text := range files {
		if filepath.Ext(name) != ".yaml" {
			continue
		}
		for _, one := range regexp.MustCompile(`(?m)^---$`).Split(text, -1) {
			if strings.TrimSpace(one) == "" {
				continue
			}
			object, err := decode([]byte(one))
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, one)
				continue
			}
			key := object.GetObjectKind().GroupVersionKind().Kind + "/" + object.(metav1.Object).GetName()
			if out[key] != nil {
				t.Errorf("%s is there twice", key)
			}
			out[key] = object
		}
	}
	return out, nil
}

// bare returns an object as it is compared: without namespace, labels of packagers, and the names
// that kustomize gives ConfigMaps. Comments in files of flags are no flags.
func bare(o runtime.Object) any {
	o = o.DeepCopyObject()
	m := o.(metav1.Object)
	m.SetNamespace("")
	kept := m.GetLabels()
	delete(kept, "helm.sh/chart")
	delete(kept, "app.kubernetes.io/managed-by")
	m.SetLabels(kept)
	hash := regexp.MustCompile(`-[0-9a-z]{10}$`)
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		o.Spec.Template.Annotations = nil
		for i, v := range o.Spec.Template.Spec.Volumes {
			if v.ConfigMap != nil {
				o.Spec.Template.Spec.Volumes[i].ConfigMap.Name = hash.ReplaceAllString(v.ConfigMap.Name, "")
			}
		}
		for _, list := range [][]corev1.Container{o.Spec.Template.Spec.InitContainers, o.Spec.Template.Spec.Containers} {
			for i := range list {
				list[i].ImagePullPolicy = ""
			}
		}
	case *corev1.ConfigMap:
		o.Labels = nil
		o.Name = hash.ReplaceAllString(o.Name, "")
		for k, v := range o.Data {
			o.Data[k] = strings.TrimSpace(regexp.MustCompile(`(?m)^# .*\n`).ReplaceAllString(v, ""))
		}
	}
	return o
}

// TestChartIsTheKustomization: with the example's values the chart makes what
// deploy/kubernetes/example makes, object by object, so that what holds for one holds for the
// other.
func TestChartIsTheKustomization(t *testing.T) {
	for dir, c := range map[string]struct {
		values, namespace string
		set               string
		besides           []string // objects that a chart does not make
	}{
		"example/federation": {federation, "covey", "coordinator", []string{"Namespace/covey"}},
		"example/north":      {north(t), "covey-north", "agent", []string{"Namespace/covey-north", "PersistentVolumeClaim/rows"}},
	} {
		t.Run(dir, func(t *testing.T) {
			want := map[string]any{}
			objects := build(t, dir)
			for name, o := range objects {
				if !slices.Contains(c.besides, name) {
					b := bare(o)
					want[strings.SplitN(name, "/", 2)[0]+"/"+b.(metav1.Object).GetName()] = b
				}
			}
			made, err := render(t, c.values, c.namespace)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := slices.Sorted(maps.Keys(made)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
				t.Errorf("%q\nis made where kustomize makes\n%q", a, b)
			}
			for name, o := range made {
				if got := bare(o); !reflect.DeepEqual(got, want[name]) {
					a, _ := yaml.Marshal(got)
					b, _ := yaml.Marshal(want[name])
					t.Errorf("%s is\n%s\nwhere kustomize makes\n%s", name, a, b)
				}
			}
			for _, name := range c.besides {
				made[name] = objects[name]
			}
			confined(t, made["StatefulSet/"+c.set].(*appsv1.StatefulSet), made)
		})
	}
}

// TestChartPage: the page is there when it is asked for, with flags that the program has, behind
// TLS where a Secret is named, and open to those alone who are named.
func TestChartPage(t *testing.T) {
	commands, err := os.ReadFile("../../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	serve := regexp.MustCompile("(?m)^- `serve` .*\n.*$").FindString(string(commands))
	for _, c := range []struct {
		secret string
		want   []string
	}{
		{"page-tls", []string{"coordinator", "serve", "--dashboard=0.0.0.0:7480", "--dashboard-cert=/tls/tls.crt", "--dashboard-key=/tls/tls.key", "--dashboard-host=covey.example"}},
		{"", []string{"coordinator", "serve", "--dashboard=0.0.0.0:7480", "--dashboard-plain", "--dashboard-host=covey.example"}},
	} {
		text := strings.Replace(federation, "coordinators: {", "coordinators: { page: { enabled: true, tlsSecret: \""+c.secret+"\", hosts: [covey.example], from: [{ podSelector: { matchLabels: { app: prometheus } } }] },", 1)
		objects, err := render(t, text, "covey")
		if err != nil {
			t.Fatal(err)
		}
		set := objects["StatefulSet/coordinator"].(*appsv1.StatefulSet)
		confined(t, set, objects)
		command := set.Spec.Template.Spec.Containers[0].Command
		if !slices.Equal(command, c.want) {
			t.Errorf("%q", command)
		}
		for _, flag := range command[2:] {
			flag, _, _ = strings.Cut(flag, "=")
			if !strings.Contains(serve, "`"+flag) {
				t.Errorf("coordinator serve has no %s: %s", flag, serve)
			}
		}
		page := objects["Service/coordinators-page"].(*corev1.Service)
		selects(t, "the page's Service", &metav1.LabelSelector{MatchLabels: page.Spec.Selector}, labels.Set(set.Spec.Template.Labels))
		if page.Spec.Type != "" || page.Spec.SessionAffinity != corev1.ServiceAffinityClientIP || page.Spec.Ports[0].TargetPort.StrVal != "page" {
			t.Errorf("%+v", page.Spec)
		}
		in := objects["NetworkPolicy/coordinator"].(*networkingv1.NetworkPolicy).Spec.Ingress
		if last := in[len(in)-1]; len(in) != 3 || last.Ports[0].Port.IntValue() != 7480 || len(last.From) != 1 || last.From[0].PodSelector.MatchLabels["app"] != "prometheus" {
			t.Errorf("%+v", in)
		}
	}
}

// TestChartValues: what must not be left out, what does not fit, and what is no value of the chart
// is refused, in words.
func TestChartValues(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(federation, old, new, 1) }
	for values, want := range map[string]string{
		with(`repository: registry.example/covey, `, ""):                                         "repository",
		with(`, "covey-2.example:7443"`, ""):                                                     "three are needed",
		with(`covey-2.example:7443`, "covey-2.example"):                                          "addresses",
		with(`coordinators: {`, "coordinators: { replicas: 5,"):                                  "replicas",
		with(`coordinators: {`, "coordinators: { page: { enabled: true },"):                      "name who may reach the page",
		federation + "agent: { enabled: true }\n":                                                "agent.toml, whole",
		federation + "agent: { enabled: true, config: \"data = \\\"/tmp\\\"\" }\n":               "nothing else outlives",
		federation + "agent: { enabled: true, replicas: 2, config: \"data = \\\"/data\\\"\" }\n": "replicas",
	} {
		if _, err := render(t, values, "covey"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nis taken, or refused without %q: %v", values, want, err)
		}
	}
}

// TestChartLint: helm lint finds nothing but that there is no picture.
func TestChartLint(t *testing.T) {
	for _, values := range []string{federation, north(t)} {
		given, err := chartutil.ReadValues([]byte(values))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range lint.All(chart, given, "covey", true).Messages {
			if m.Severity > support.InfoSev {
				t.Error(m)
			}
		}
	}
}
